//! The one list of estimators. Command line, Python, saved files, reference pages and the law tests
//! all read it.

mod expand;
mod out_of_core;

use self::out_of_core::AnyParts;
use crate::bayes::{
    BernoulliNb, BernoulliNbModel, CategoricalNb, CategoricalNbModel, ComplementNb,
    ComplementNbModel, GaussianNb, GaussianNbModel, MixedNb, MixedNbModel, MultinomialNb,
    MultinomialNbModel,
};
use crate::data::Dataset;
use crate::discriminant::{
    LinearDiscriminantAnalysis, LinearDiscriminantAnalysisModel, QuadraticDiscriminantAnalysis,
    QuadraticDiscriminantAnalysisModel, RegularizedDiscriminantAnalysis,
    RegularizedDiscriminantAnalysisModel,
};
use crate::error::{Error, Result};
use crate::kernel::{
    AdditiveChi2Sampler, AdditiveChi2SamplerModel, Nystroem, NystroemModel, PolynomialCountSketch,
    PolynomialCountSketchModel, PolynomialFeatures, PolynomialFeaturesModel, RbfSampler,
    RbfSamplerModel,
};
use crate::kernelized::{
    KernelKMeans, KernelKMeansModel, KernelPca, KernelPcaModel, KernelPerceptron,
    KernelPerceptronModel, KernelRidge, KernelRidgeModel,
};
use crate::linear::{
    LinearRegression, LinearRegressionModel, LinearSvc, LinearSvcModel, LinearSvr, LinearSvrModel,
    LogisticRegression, LogisticRegressionCv, LogisticRegressionCvModel, LogisticRegressionModel,
    PassiveAggressive, PassiveAggressiveModel, PassiveAggressiveRegressor,
    PassiveAggressiveRegressorModel, Perceptron, PerceptronModel, Ridge, RidgeCv, RidgeCvModel,
    RidgeModel, SgdClassifier, SgdClassifierModel, SgdRegressor, SgdRegressorModel,
};
use crate::model::{
    Accumulate, BoxedParts, Fit, Fitted, Gathered, Model, Monitor, Params, Shape, Spec, Statistics,
    Tree,
};
use crate::neural::{MlpClassifier, MlpClassifierModel, MlpRegressor, MlpRegressorModel};
use crate::preprocess::Reads;
use crate::probability::network::{BayesNetwork, BayesNetworkModel, TanNb, TanNbModel};
use crate::svm::{
    NuSvc, NuSvcModel, NuSvr, NuSvrModel, OneClassSvm, OneClassSvmModel, Svc, SvcModel, Svr,
    SvrModel,
};
use mercer_num::parallel::Layout;
use serde::{Deserialize, Serialize};
use serde_json::Value;

expand::catalog! {
    by_statistics {
    //  parameters     id                Python                         model                it can, it takes
        GaussianNb     "gaussian-nb"     "naive_bayes.GaussianNB"    => GaussianNbModel    : classifier probabilistic generative factored, missing sparse;
        MultinomialNb  "multinomial-nb"  "naive_bayes.MultinomialNB" => MultinomialNbModel : classifier probabilistic factored, sparse counts;
        ComplementNb   "complement-nb"   "naive_bayes.ComplementNB"  => ComplementNbModel  : classifier probabilistic summed, sparse counts;
        BernoulliNb    "bernoulli-nb"    "naive_bayes.BernoulliNB"   => BernoulliNbModel   : classifier probabilistic generative factored, sparse binary;
        CategoricalNb  "categorical-nb"  "naive_bayes.CategoricalNB" => CategoricalNbModel : classifier probabilistic generative factored, missing categories;
        MixedNb        "mixed-nb"        "naive_bayes.MixedNB"       => MixedNbModel       : classifier probabilistic generative factored, missing sparse mixed;
        TanNb          "tan"             "naive_bayes.TreeAugmentedNB" => TanNbModel       : classifier probabilistic generative factored, missing categories;
        BayesNetwork   "bayes-network"   "naive_bayes.BayesNetworkClassifier" => BayesNetworkModel : classifier probabilistic generative summed, missing categories;
        LinearRegression "ols"           "linear_model.LinearRegression" => LinearRegressionModel : regressor additive, sparse targets asked_texts;
        Ridge          "ridge"           "linear_model.Ridge"        => RidgeModel         : regressor additive, sparse targets asked_texts;
        LinearDiscriminantAnalysis      "lda"  "discriminant_analysis.LinearDiscriminantAnalysis"      => LinearDiscriminantAnalysisModel      : classifier probabilistic generative summed discriminant transformer, sparse;
        QuadraticDiscriminantAnalysis   "qda"  "discriminant_analysis.QuadraticDiscriminantAnalysis"   => QuadraticDiscriminantAnalysisModel   : classifier probabilistic generative summed discriminant, sparse;
        RegularizedDiscriminantAnalysis "rda"  "discriminant_analysis.RegularizedDiscriminantAnalysis" => RegularizedDiscriminantAnalysisModel : classifier probabilistic generative summed discriminant, sparse;
    }
    by_rounds {}
    by_solver {
        RidgeCv        "ridge-cv"        "linear_model.RidgeCV"      => RidgeCvModel       : regressor additive selected, sparse asked_texts;
        Svc            "svc"             "svm.SVC"                   => SvcModel           : classifier calibrated supported decides warm planned, sparse asked_texts;
        LogisticRegression "logistic"    "linear_model.LogisticRegression" => LogisticRegressionModel : classifier probabilistic summed warm, sparse texts;
        LogisticRegressionCv "logistic-cv" "linear_model.LogisticRegressionCV" => LogisticRegressionCvModel : classifier probabilistic summed selected ordered, sparse texts;
        LinearSvc      "linear-svc"      "svm.LinearSVC"             => LinearSvcModel     : classifier calibrated summed decides, sparse texts;
        LinearSvr      "linear-svr"      "svm.LinearSVR"             => LinearSvrModel     : regressor additive, sparse texts;
        Perceptron     "perceptron"      "linear_model.Perceptron"   => PerceptronModel    : classifier summed decides online ordered warm, sparse texts;
        SgdClassifier  "sgd"             "linear_model.SGDClassifier" => SgdClassifierModel : classifier calibrated summed decides online ordered warm, sparse texts;
        SgdRegressor   "sgd-regressor"   "linear_model.SGDRegressor" => SgdRegressorModel  : regressor additive online ordered warm, sparse texts;
        PassiveAggressive          "passive-aggressive"           "linear_model.PassiveAggressiveClassifier" => PassiveAggressiveModel          : classifier summed decides online ordered warm, sparse texts;
        PassiveAggressiveRegressor "passive-aggressive-regressor" "linear_model.PassiveAggressiveRegressor"  => PassiveAggressiveRegressorModel : regressor additive online ordered warm, sparse texts;
        NuSvc          "nu-svc"          "svm.NuSVC"                 => NuSvcModel         : classifier calibrated supported decides planned, sparse asked_texts;
        Svr            "svr"             "svm.SVR"                   => SvrModel           : regressor supported planned, sparse asked_texts;
        NuSvr          "nu-svr"          "svm.NuSVR"                 => NuSvrModel         : regressor supported planned, sparse asked_texts;
        OneClassSvm    "one-class-svm"   "svm.OneClassSVM"           => OneClassSvmModel   : detector supported decides planned, sparse;
        KernelRidge    "kernel-ridge"    "kernel_ridge.KernelRidge"  => KernelRidgeModel   : regressor supported planned, sparse targets asked_texts;
        KernelPerceptron "kernel-perceptron" "svm.KernelPerceptron"  => KernelPerceptronModel : classifier supported decides ordered, sparse;
        KernelKMeans   "kernel-k-means"  "cluster.KernelKMeans"      => KernelKMeansModel  : clusterer, sparse;
        KernelPca      "kernel-pca"      "decomposition.KernelPCA"   => KernelPcaModel     : transformer planned, sparse;
        MlpClassifier  "mlp"             "neural_network.MLPClassifier" => MlpClassifierModel : classifier probabilistic warm local, sparse asked_texts;
        MlpRegressor   "mlp-regressor"   "neural_network.MLPRegressor" => MlpRegressorModel : regressor warm local, sparse targets asked_texts;
        RbfSampler     "rbf-sampler"     "kernel_approximation.RBFSampler" => RbfSamplerModel : transformer, sparse;
        Nystroem       "nystroem"        "kernel_approximation.Nystroem"   => NystroemModel   : transformer, sparse;
        PolynomialCountSketch "polynomial-sketch" "kernel_approximation.PolynomialCountSketch" => PolynomialCountSketchModel : transformer, sparse;
        PolynomialFeatures    "polynomial-features" "preprocessing.PolynomialFeatures" => PolynomialFeaturesModel : transformer, sparse;
        AdditiveChi2Sampler   "additive-chi2"     "kernel_approximation.AdditiveChi2Sampler"   => AdditiveChi2SamplerModel   : transformer, sparse;
    }
}

/// What is known about an estimator before it is fitted.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// Its name everywhere but in Python.
    pub id: &'static str,
    /// Its module and class in Python.
    pub python: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its parameters.
    pub specs: &'static [Spec],
    /// How it learns.
    pub learns: Learns,
    /// What its model can do, and how it learns: `online` estimators learn row after row and may learn more
    /// at any time, `warm` ones can begin at an earlier model, `planned` ones tell their [`Plan`](crate::model::Plan)
    /// before they begin, to those that are `ordered` the same rows in another order are other rows, and `local`
    /// ones go down from weights that are drawn to the next of many minima, so that columns or classes in another
    /// order are another start.
    pub capabilities: &'static [&'static str],
    /// What its rows may have: `missing` values, `sparse` storage, `texts` as counts of
    /// words (`asked_texts` only those that somebody names), several `targets`; or are read as: `counts`,
    /// `binary` (there or not), `categories` (codes of values), `mixed` (each column as described).
    pub takes: &'static [&'static str],
}

/// How an estimator learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Learns {
    /// From one mergeable summary.
    Statistics,
    /// From a mergeable summary a round.
    Rounds,
    /// From the rows themselves.
    Solver,
}

impl Card {
    /// Whether its model can do something.
    pub fn can(&self, what: &str) -> bool {
        self.capabilities.contains(&what)
    }

    /// Whether its rows may have something.
    pub fn takes(&self, what: &str) -> bool {
        self.takes.contains(&what)
    }

    /// Whether it learns from rows that have no target.
    pub fn is_unsupervised(&self) -> bool {
        !self.can("classifier") && !self.can("regressor")
    }

    /// What it reads the numbers of a row as.
    pub fn reads(&self) -> Reads {
        match () {
            () if self.takes("mixed") => Reads::Mixed,
            () if self.takes("categories") => Reads::Categories,
            () if self.takes("counts") || self.takes("binary") => Reads::Counts,
            () if self.takes("texts") => Reads::NumbersAndTexts,
            () => Reads::Numbers,
        }
    }

    /// The default parameters.
    pub fn defaults(&self) -> Value {
        Estimator::from_id(self.id).map(|e| e.params()).unwrap_or_default()
    }
}

/// The card of an estimator.
pub fn card(id: &str) -> Option<&'static Card> {
    CATALOG.iter().find(|card| card.id == id)
}

impl Estimator {
    /// What is known about it.
    pub fn card(&self) -> &'static Card {
        card(self.id()).expect("every estimator has a card: one macro writes both")
    }

    /// Sets a parameter from a word: JSON where it reads as JSON, else the word itself.
    ///
    /// # Errors
    /// If there is no such parameter or the value does not fit.
    pub fn set_from_str(&self, name: &str, word: &str) -> Result<Estimator> {
        let value = serde_json::from_str(word).unwrap_or_else(|_| Value::String(word.to_owned()));
        self.set(name, value)
    }

    /// The refusal of something the estimator cannot do.
    pub fn unable(&self, what: &str) -> Error {
        Error::Unable { estimator: self.id().to_owned(), what: what.to_owned() }
    }
}
