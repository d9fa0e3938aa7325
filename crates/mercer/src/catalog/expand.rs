//! The macro behind the list: it writes the tagged enums and every `match` over all estimators, so that
//! none is written by hand. A capability whose trait the model does not implement fails to compile.

/// Expands the list into `Estimator`, `AnyModel`, `AnyStats` and `CATALOG`.
macro_rules! catalog {
    (
        by_statistics { $($S:ident $s_id:literal $s_py:literal => $SM:ident : $($s_can:ident)*, $($s_takes:ident)*;)* }
        by_rounds { $($R:ident $r_id:literal $r_py:literal => $RM:ident : $($r_can:ident)*, $($r_takes:ident)*;)* }
        by_solver { $($V:ident $v_id:literal $v_py:literal => $VM:ident : $($v_can:ident)*, $($v_takes:ident)*;)* }
    ) => {
        $crate::catalog::expand::catalog! { @models
            $($SM : $($s_can)*;)* $($RM : $($r_can)*;)* $($VM : $($v_can)*;)*
        }
        $crate::catalog::expand::catalog! { @all
            $($S $s_id $SM;)* $($R $r_id $RM;)* $($V $v_id $VM;)*
        }

        /// The cards of all estimators.
        pub const CATALOG: &[Card] = &[
            $($crate::catalog::expand::catalog!(@card $S $s_id $s_py Statistics [$($s_can)*] [$($s_takes)*]),)*
            $($crate::catalog::expand::catalog!(@card $R $r_id $r_py Rounds [$($r_can)*] [$($r_takes)*]),)*
            $($crate::catalog::expand::catalog!(@card $V $v_id $v_py Solver [$($v_can)*] [$($v_takes)*]),)*
        ];

        impl Estimator {
            /// Starts a fit by rounds; see [`ByRounds`].
            ///
            /// # Errors
            /// If parameters are not valid, or the estimator does not learn by rounds.
            pub fn by_rounds(&self, shape: &Shape<'_>) -> Result<BoxedRounds<AnyModel>> {
                match self {
                    $(Estimator::$R(params) => {
                        let rounds = ByRounds::by_rounds(params, shape)?;
                        Ok(Box::new(AnyRounds { rounds, wrap: AnyModel::$R }))
                    })*
                    _ => Err(self.unable("learn by rounds")),
                }
            }
        }

        /// The summary of any estimator that learns by statistics.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum AnyStats {
            $(#[doc = $s_id] #[serde(rename = $s_id)] $S(<$S as Accumulate>::Stats),)*
        }

        #[allow(unreachable_patterns)]
        impl AnyStats {
            /// Adds the rows of another summary.
            ///
            /// # Errors
            /// If the two are not of one kind and about the same columns.
            pub fn merge(&mut self, other: &AnyStats) -> Result<()> {
                match (self, other) {
                    $((AnyStats::$S(mine), AnyStats::$S(theirs)) => mine.merge(theirs),)*
                    _ => Err(Error::Merge { why: "the estimators differ".into() }),
                }
            }

            /// Removes the rows of another summary.
            ///
            /// # Errors
            /// If those rows cannot have been part of this summary.
            pub fn forget(&mut self, other: &AnyStats) -> Result<()> {
                match (self, other) {
                    $((AnyStats::$S(mine), AnyStats::$S(theirs)) => mine.forget(theirs),)*
                    _ => Err(Error::Merge { why: "the estimators differ".into() }),
                }
            }

            /// The number of columns and the classes, for summaries that store them.
            pub fn outline(&self) -> Option<(usize, crate::data::Classes)> {
                match self {
                    $(AnyStats::$S(stats) => stats.outline(),)*
                }
            }

            /// Whether the summary stores training rows, so that they could be read back.
            pub fn holds_rows(&self) -> bool {
                match self {
                    $(AnyStats::$S(stats) => stats.holds_rows(),)*
                }
            }

            /// Refuses values that no rows could have produced.
            ///
            /// # Errors
            /// The first inconsistency found.
            pub fn check(&self) -> Result<()> {
                match self {
                    $(AnyStats::$S(stats) => stats.check(),)*
                }
            }
        }

        #[allow(unreachable_patterns)]
        impl Estimator {
            /// The empty summary, if the estimator learns by statistics.
            pub fn no_rows(&self) -> Option<AnyStats> {
                match self {
                    $(Estimator::$S(_) => Some(AnyStats::$S(Default::default())),)*
                    _ => None,
                }
            }

            /// Rows per chunk of the parallel reduction.
            pub fn chunk_rows(&self, n_columns: usize, layout: Layout) -> usize {
                match self {
                    $(Estimator::$S(_) => <$S as Accumulate>::Stats::chunk_rows(n_columns, layout),)*
                    _ => mercer_num::parallel::chunk_rows(n_columns, layout),
                }
            }

            /// Approximate bytes of a summary of so many classes and columns.
            pub fn summary_bytes(&self, n_classes: usize, n_columns: usize) -> u64 {
                match self {
                    $(Estimator::$S(_) => <$S as Accumulate>::Stats::bytes(n_classes, n_columns),)*
                    _ => 0,
                }
            }

            /// Adds rows to a summary.
            ///
            /// # Errors
            /// If the rows are not valid or the summary belongs to another estimator.
            pub fn observe(&self, stats: &mut AnyStats, batch: &Dataset<'_>) -> Result<()> {
                match (self, stats) {
                    $((Estimator::$S(params), AnyStats::$S(stats)) => params.observe(stats, batch),)*
                    _ => Err(self.unable("learn from this summary")),
                }
            }

            /// The summary of all rows, on all threads; see [`gather`](crate::model::gather).
            ///
            /// # Errors
            /// If the rows are not valid or the estimator does not learn by statistics.
            pub fn gather(
                &self,
                data: &Dataset<'_>,
                monitor: &Monitor<'_>,
            ) -> Result<Gathered<AnyStats>> {
                match self {
                    $(Estimator::$S(params) => {
                        let observe = |s: &mut _, b: &Dataset<'_>| params.observe(s, b);
                        Ok(crate::model::gather(data, monitor, observe)?.map(AnyStats::$S))
                    })*
                    _ => Err(self.unable("learn by statistics")),
                }
            }

            /// Computes the model from a summary.
            ///
            /// # Errors
            /// If the summary holds too few rows or belongs to another estimator.
            pub fn finish(&self, stats: &AnyStats, rows: u64) -> Result<Fitted<AnyModel>> {
                self.finish_within(stats, rows, &Monitor::quiet())
            }

            /// As [`Estimator::finish`], under a monitor: a search that the monitor ends returns its best model so far,
            /// marked as stopped.
            ///
            /// # Errors
            /// If the summary holds too few rows or belongs to another estimator.
            pub fn finish_within(
                &self,
                stats: &AnyStats,
                rows: u64,
                monitor: &Monitor<'_>,
            ) -> Result<Fitted<AnyModel>> {
                match (self, stats) {
                    $((Estimator::$S(params), AnyStats::$S(stats)) => {
                        params.check()?;
                        let (model, stopped) = params.finish_within(stats, monitor)?;
                        let certificate =
                            params.certificate(stats, &model).rows(rows).stopped_by(stopped);
                        Ok(Fitted { model: AnyModel::$S(model), certificate })
                    })*
                    _ => Err(self.unable("learn from this summary")),
                }
            }
        }
    };

    (@all $($P:ident $id:literal $M:ident;)*) => {
        /// Any estimator with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum Estimator {
            $(#[doc = $id] #[serde(rename = $id)] $P($P),)*
        }

        /// Any fitted model.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum AnyModel {
            $(#[doc = $id] #[serde(rename = $id)] $P($M),)*
        }

        $(impl From<$P> for Estimator {
            fn from(params: $P) -> Self {
                Estimator::$P(params)
            }
        })*

        impl Estimator {
            /// The estimator with this id and default parameters.
            ///
            /// # Errors
            /// If no estimator has this id.
            pub fn from_id(id: &str) -> Result<Estimator> {
                match id {
                    $($id => Ok(Estimator::$P($P::default())),)*
                    _ => Err(Error::UnknownEstimator {
                        id: id.to_owned(),
                        known: [$($id),*].join(", "),
                    }),
                }
            }

            /// Its id.
            pub fn id(&self) -> &'static str {
                match self {
                    $(Estimator::$P(_) => $id,)*
                }
            }

            /// Its parameters.
            pub fn params(&self) -> Value {
                match self {
                    $(Estimator::$P(params) => Tree::of(params).map_or(Value::Null, Value::from),)*
                }
            }

            /// A copy with one parameter changed.
            ///
            /// # Errors
            /// If there is no such parameter or the value is not allowed.
            pub fn set(&self, name: &str, value: Value) -> Result<Estimator> {
                match self {
                    $(Estimator::$P(params) => {
                        Ok(Estimator::$P(crate::model::set(params, name, value)?))
                    })*
                }
            }

            /// Refuses parameters outside their allowed values.
            ///
            /// # Errors
            /// The first such parameter.
            pub fn check(&self) -> Result<()> {
                match self {
                    $(Estimator::$P(params) => params.check(),)*
                }
            }

            /// Fits all rows.
            ///
            /// # Errors
            /// If parameters or data are not valid.
            pub fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<AnyModel>> {
                match self {
                    $(Estimator::$P(params) => Ok(params.fit(data, monitor)?.map(AnyModel::$P)),)*
                }
            }
        }

        #[allow(unreachable_patterns)]
        impl Estimator {
            /// Fits all rows, starting from a model of the same estimator (warm start); see
            /// [`Fit::fit_from`](crate::model::Fit::fit_from).
            ///
            /// # Errors
            /// If parameters or data are not valid, or the estimator has no warm start.
            pub fn fit_from(
                &self,
                start: &AnyModel,
                data: &Dataset<'_>,
                monitor: &Monitor<'_>,
            ) -> Result<Fitted<AnyModel>> {
                match (self, start) {
                    $((Estimator::$P(params), AnyModel::$P(start)) => {
                        Ok(Fit::fit_from(params, start, data, monitor)?.map(AnyModel::$P))
                    })*
                    _ => Err(self.unable("start from a model of another estimator")),
                }
            }

            /// Continues from a model of the same estimator with one pass over more rows; see
            /// [`Fit::partial_fit`](crate::model::Fit::partial_fit).
            ///
            /// # Errors
            /// If parameters or data are not valid, or the estimator does not learn online.
            pub fn partial_fit(
                &self,
                before: Option<&Fitted<AnyModel>>,
                data: &Dataset<'_>,
                monitor: &Monitor<'_>,
            ) -> Result<Fitted<AnyModel>> {
                let mut fitted = match (self, before.map(|before| &before.model)) {
                    $((Estimator::$P(params), None) => {
                        Fit::partial_fit(params, None, data, monitor)?.map(AnyModel::$P)
                    }
                    (Estimator::$P(params), Some(AnyModel::$P(model))) => {
                        Fit::partial_fit(params, Some(model), data, monitor)?.map(AnyModel::$P)
                    })*
                    _ => return Err(self.unable("continue from a model of another estimator")),
                };
                if let Some(before) = before {
                    fitted.certificate.rows += before.certificate.rows;
                    fitted.certificate.iterations += before.certificate.iterations;
                }
                Ok(fitted)
            }
        }

        impl Estimator {
            /// Starts a fit of rows that arrive in parts; see
            /// [`Fit::out_of_core`](crate::model::Fit::out_of_core).
            ///
            /// # Errors
            /// If parameters are not valid, or the estimator does not learn online.
            pub fn out_of_core(&self, shape: &Shape<'_>) -> Result<BoxedOutOfCoreFit<AnyModel>> {
                match self {
                    $(Estimator::$P(params) => {
                        let parts = Fit::out_of_core(params, shape)?;
                        Ok(Box::new(AnyOutOfCoreFit { parts, wrap: AnyModel::$P }))
                    })*
                }
            }
        }

        impl AnyModel {
            /// The model's capabilities.
            pub fn as_model(&self) -> &dyn Model {
                match self {
                    $(AnyModel::$P(model) => model,)*
                }
            }

            /// The id of its estimator.
            pub fn id(&self) -> &'static str {
                match self {
                    $(AnyModel::$P(_) => $id,)*
                }
            }

            /// The model's fields by name, with whole arrays.
            pub fn fields(&self) -> Tree {
                match self {
                    $(AnyModel::$P(model) => Tree::of(model).unwrap_or(Tree::Null),)*
                }
            }
        }
    };

    (@models $($M:ident : $($can:ident)*;)*) => {
        $(impl Model for $M {
            $($crate::catalog::expand::catalog!(@can $can);)*
        })*
    };
    (@can Classifier) => { fn classifier(&self) -> Option<&dyn crate::model::Classifier> { Some(self) } };
    (@can Probabilistic) => { fn probabilistic(&self) -> Option<&dyn crate::model::Probabilistic> { Some(self) } };
    (@can Calibrated) => {
        fn probabilistic(&self) -> Option<&dyn crate::model::Probabilistic> {
            self.has_probabilities().then_some(self as &dyn crate::model::Probabilistic)
        }
    };
    (@can Generative) => { fn generative(&self) -> Option<&dyn crate::model::Generative> { Some(self) } };
    (@can FactorizedLikelihood) => {
        fn factorized_likelihood(&self) -> Option<&dyn crate::model::FactorizedLikelihood> { Some(self) }
    };
    (@can AdditiveScores) => { fn additive_scores(&self) -> Option<&dyn crate::model::AdditiveScores> { Some(self) } };
    (@can SupportVectors) => { fn support_vectors(&self) -> Option<&dyn crate::model::SupportVectors> { Some(self) } };
    (@can Discriminant) => { fn discriminant(&self) -> Option<&dyn crate::model::Discriminant> { Some(self) } };
    (@can DecisionFunction) => {
        fn decision_function(&self) -> Option<&dyn crate::model::DecisionFunction> { Some(self) }
    };
    (@can Regressor) => { fn regressor(&self) -> Option<&dyn crate::model::Regressor> { Some(self) } };
    (@can LinearModel) => { fn linear_model(&self) -> Option<&dyn crate::model::LinearModel> { Some(self) } };
    (@can CrossValidated) => { fn cross_validated(&self) -> Option<&dyn crate::model::CrossValidated> { Some(self) } };
    (@can OutlierDetector) => {
        fn outlier_detector(&self) -> Option<&dyn crate::model::OutlierDetector> { Some(self) }
    };
    (@can Clusterer) => { fn clusterer(&self) -> Option<&dyn crate::model::Clusterer> { Some(self) } };
    (@can Transformer) => { fn transformer(&self) -> Option<&dyn crate::model::Transformer> { Some(self) } };
    // Properties of the fit rather than of the model: methods of `Fit`.
    (@can Online) => {};
    (@can WarmStart) => {};
    (@can MemoryPlan) => {};
    (@can OrderDependent) => {};
    (@can NonConvex) => {};
    (@can ScaleDependent) => {};
    (@can TargetScaleDependent) => {};

    (@card $P:ident $id:literal $py:literal $learns:ident [$($can:ident)*] [$($takes:ident)*]) => {
        Card {
            id: $id,
            python: $py,
            doc: <$P as Params>::DOC,
            formula: <$P as Params>::FORMULA,
            lecture: <$P as Params>::LECTURE,
            specs: <$P as Params>::SPECS,
            attributes: <$P as Params>::ATTRIBUTES,
            sklearn: &<$P as Params>::SKLEARN,
            learns: Learns::$learns,
            capabilities: &[$(Capability::$can),*],
            inputs: &[$(Input::$takes),*],
        }
    };
}

pub(super) use catalog;
