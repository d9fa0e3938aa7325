//! The list of all estimators. The CLI, Python, model files, reference pages and the law tests read it.

mod card;
mod expand;
mod out_of_core;

pub use self::card::{Capability, Card, Input, Learns};
use self::out_of_core::{AnyOutOfCoreFit, AnyRounds};
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
    ElasticNet, ElasticNetModel, Lasso, LassoModel, LinearRegression, LinearRegressionModel,
    LinearSvc, LinearSvcModel, LinearSvr, LinearSvrModel, LogisticRegression, LogisticRegressionCv,
    LogisticRegressionCvModel, LogisticRegressionModel, PassiveAggressive, PassiveAggressiveModel,
    PassiveAggressiveRegressor, PassiveAggressiveRegressorModel, Perceptron, PerceptronModel,
    Ridge, RidgeCv, RidgeCvModel, RidgeModel, SgdClassifier, SgdClassifierModel, SgdOneClassSvm,
    SgdOneClassSvmModel, SgdRegressor, SgdRegressorModel,
};
use crate::model::{
    Accumulate, BoxedOutOfCoreFit, BoxedRounds, ByRounds, Fit, Fitted, Gathered, Model, Monitor,
    Params, Shape, Statistics, Tree,
};
use crate::neural::{MlpClassifier, MlpClassifierModel, MlpRegressor, MlpRegressorModel};
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
    //  parameters     id                Python                         model                capabilities, inputs
        GaussianNb     "gaussian-nb"     "naive_bayes.GaussianNB"    => GaussianNbModel    : Classifier Probabilistic Generative FactorizedLikelihood, MissingValues Sparse;
        MultinomialNb  "multinomial-nb"  "naive_bayes.MultinomialNB" => MultinomialNbModel : Classifier Probabilistic Generative FactorizedLikelihood, Sparse Counts;
        ComplementNb   "complement-nb"   "naive_bayes.ComplementNB"  => ComplementNbModel  : Classifier Probabilistic AdditiveScores, Sparse Counts;
        BernoulliNb    "bernoulli-nb"    "naive_bayes.BernoulliNB"   => BernoulliNbModel   : Classifier Probabilistic Generative FactorizedLikelihood, Sparse Binary;
        CategoricalNb  "categorical-nb"  "naive_bayes.CategoricalNB" => CategoricalNbModel : Classifier Probabilistic Generative FactorizedLikelihood, MissingValues Categories;
        MixedNb        "mixed-nb"        "naive_bayes.MixedNB"       => MixedNbModel       : Classifier Probabilistic Generative FactorizedLikelihood, MissingValues Sparse Mixed;
        TanNb          "tan"             "naive_bayes.TreeAugmentedNB" => TanNbModel       : Classifier Probabilistic Generative FactorizedLikelihood, MissingValues Categories;
        BayesNetwork   "bayes-network"   "naive_bayes.BayesNetworkClassifier" => BayesNetworkModel : Classifier Probabilistic Generative AdditiveScores, MissingValues Categories;
        LinearRegression "ols"           "linear_model.LinearRegression" => LinearRegressionModel : Regressor LinearModel, Sparse MultiOutput;
        Ridge          "ridge"           "linear_model.Ridge"        => RidgeModel         : Regressor LinearModel ScaleDependent, Sparse MultiOutput;
        LinearDiscriminantAnalysis      "lda"  "discriminant_analysis.LinearDiscriminantAnalysis"      => LinearDiscriminantAnalysisModel      : Classifier Probabilistic Generative AdditiveScores Discriminant Transformer, Sparse;
        QuadraticDiscriminantAnalysis   "qda"  "discriminant_analysis.QuadraticDiscriminantAnalysis"   => QuadraticDiscriminantAnalysisModel   : Classifier Probabilistic Generative AdditiveScores Discriminant, Sparse;
        RegularizedDiscriminantAnalysis "rda"  "discriminant_analysis.RegularizedDiscriminantAnalysis" => RegularizedDiscriminantAnalysisModel : Classifier Probabilistic Generative AdditiveScores Discriminant ScaleDependent, Sparse;
    }
    by_rounds {
        LogisticRegression "logistic"    "linear_model.LogisticRegression" => LogisticRegressionModel : Classifier Probabilistic AdditiveScores WarmStart ScaleDependent, Sparse Text;
        LinearSvc      "linear-svc"      "svm.LinearSVC"             => LinearSvcModel     : Classifier Calibrated AdditiveScores DecisionFunction ScaleDependent, Sparse Text;
        LinearSvr      "linear-svr"      "svm.LinearSVR"             => LinearSvrModel     : Regressor LinearModel ScaleDependent TargetScaleDependent, Sparse Text;
    }
    by_solver {
        RidgeCv        "ridge-cv"        "linear_model.RidgeCV"      => RidgeCvModel       : Regressor LinearModel CrossValidated ScaleDependent, Sparse;
        Lasso          "lasso"           "linear_model.Lasso"        => LassoModel         : Regressor LinearModel WarmStart ScaleDependent, Sparse MultiOutput Text;
        ElasticNet     "elastic-net"     "linear_model.ElasticNet"   => ElasticNetModel    : Regressor LinearModel WarmStart ScaleDependent, Sparse MultiOutput Text;
        Svc            "svc"             "svm.SVC"                   => SvcModel           : Classifier Calibrated SupportVectors DecisionFunction WarmStart MemoryPlan ScaleDependent, Sparse;
        LogisticRegressionCv "logistic-cv" "linear_model.LogisticRegressionCV" => LogisticRegressionCvModel : Classifier Probabilistic AdditiveScores CrossValidated OrderDependent ScaleDependent, Sparse Text;
        Perceptron     "perceptron"      "linear_model.Perceptron"   => PerceptronModel    : Classifier AdditiveScores DecisionFunction Online OrderDependent WarmStart ScaleDependent, Sparse Text;
        SgdClassifier  "sgd"             "linear_model.SGDClassifier" => SgdClassifierModel : Classifier Calibrated AdditiveScores DecisionFunction Online OrderDependent WarmStart ScaleDependent, Sparse Text;
        SgdRegressor   "sgd-regressor"   "linear_model.SGDRegressor" => SgdRegressorModel  : Regressor LinearModel Online OrderDependent WarmStart ScaleDependent TargetScaleDependent, Sparse Text;
        SgdOneClassSvm "sgd-one-class"   "linear_model.SGDOneClassSVM" => SgdOneClassSvmModel : OutlierDetector DecisionFunction OrderDependent WarmStart ScaleDependent, Sparse;
        PassiveAggressive          "passive-aggressive"           "linear_model.PassiveAggressiveClassifier" => PassiveAggressiveModel          : Classifier AdditiveScores DecisionFunction Online OrderDependent WarmStart ScaleDependent, Sparse Text;
        PassiveAggressiveRegressor "passive-aggressive-regressor" "linear_model.PassiveAggressiveRegressor"  => PassiveAggressiveRegressorModel : Regressor LinearModel Online OrderDependent WarmStart ScaleDependent TargetScaleDependent, Sparse Text;
        NuSvc          "nu-svc"          "svm.NuSVC"                 => NuSvcModel         : Classifier Calibrated SupportVectors DecisionFunction MemoryPlan ScaleDependent, Sparse;
        Svr            "svr"             "svm.SVR"                   => SvrModel           : Regressor SupportVectors WarmStart MemoryPlan ScaleDependent TargetScaleDependent, Sparse;
        NuSvr          "nu-svr"          "svm.NuSVR"                 => NuSvrModel         : Regressor SupportVectors MemoryPlan ScaleDependent TargetScaleDependent, Sparse;
        OneClassSvm    "one-class-svm"   "svm.OneClassSVM"           => OneClassSvmModel   : OutlierDetector SupportVectors DecisionFunction MemoryPlan ScaleDependent, Sparse;
        KernelRidge    "kernel-ridge"    "kernel_ridge.KernelRidge"  => KernelRidgeModel   : Regressor SupportVectors MemoryPlan ScaleDependent TargetScaleDependent, Sparse MultiOutput;
        KernelPerceptron "kernel-perceptron" "svm.KernelPerceptron"  => KernelPerceptronModel : Classifier SupportVectors DecisionFunction OrderDependent ScaleDependent, Sparse;
        KernelKMeans   "kernel-k-means"  "cluster.KernelKMeans"      => KernelKMeansModel  : Clusterer ScaleDependent, Sparse;
        KernelPca      "kernel-pca"      "decomposition.KernelPCA"   => KernelPcaModel     : Transformer MemoryPlan ScaleDependent, Sparse;
        MlpClassifier  "mlp"             "neural_network.MLPClassifier" => MlpClassifierModel : Classifier Probabilistic AdditiveScores WarmStart NonConvex ScaleDependent, Sparse;
        MlpRegressor   "mlp-regressor"   "neural_network.MLPRegressor" => MlpRegressorModel : Regressor WarmStart NonConvex ScaleDependent TargetScaleDependent, Sparse MultiOutput;
        RbfSampler     "rbf-sampler"     "kernel_approximation.RBFSampler" => RbfSamplerModel : Transformer ScaleDependent, Sparse;
        Nystroem       "nystroem"        "kernel_approximation.Nystroem"   => NystroemModel   : Transformer ScaleDependent, Sparse;
        PolynomialCountSketch "polynomial-sketch" "kernel_approximation.PolynomialCountSketch" => PolynomialCountSketchModel : Transformer ScaleDependent, Sparse;
        PolynomialFeatures    "polynomial-features" "preprocessing.PolynomialFeatures" => PolynomialFeaturesModel : Transformer, Sparse;
        AdditiveChi2Sampler   "additive-chi2"     "kernel_approximation.AdditiveChi2Sampler"   => AdditiveChi2SamplerModel   : Transformer, Sparse Nonnegative;
    }
}

/// The card of an estimator.
pub fn card(id: &str) -> Option<&'static Card> {
    CATALOG.iter().find(|card| card.id == id)
}

impl Estimator {
    /// Its card.
    pub fn card(&self) -> &'static Card {
        card(self.id()).expect("the macro that writes the estimators writes their cards")
    }

    /// Sets a parameter from a string: as JSON where it parses as JSON, otherwise as the string itself.
    ///
    /// # Errors
    /// If there is no such parameter or the value does not fit.
    pub fn set_from_str(&self, name: &str, text: &str) -> Result<Estimator> {
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        self.set(name, value)
    }

    /// The error for something the estimator cannot do.
    pub fn unable(&self, what: &str) -> Error {
        Error::Unable { estimator: self.id().to_owned(), what: what.to_owned() }
    }
}
