//! Sums and products of kernels, written as a formula: `rbf(gamma=0.1)+2*linear`, `rbf*poly(degree=2)`.
//!
//! A sum of kernels is a kernel (the maps stand side by side), a product of kernels is one (all products of
//! their columns; Schur 1911), and so is a kernel times a number of at least zero. A formula is multiplied
//! out when it is read, into a sum of products.
//!
//! ```text
//! sum     = product { "+" product }
//! product = factor { "*" factor }
//! factor  = NUMBER | "(" sum ")" | NAME [ "(" NAME "=" VALUE { "," NAME "=" VALUE } ")" ]
//! ```

use super::{Function, Gamma, Kernel};
use std::fmt;
use std::str::FromStr;

/// Kernels that a formula may have in all, once it is multiplied out.
const MOST: usize = 64;
/// How deep parentheses may go.
const DEEPEST: usize = 16;

/// A sum of products of kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What is added up.
    pub products: Vec<Product>,
}

/// A number times a product of kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// The number, at least zero.
    pub factor: f64,
    /// The kernels; none stand for the kernel that is one everywhere.
    pub kernels: Vec<Leaf>,
}

/// A kernel by name, with the numbers that the formula gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The family: none that is a formula itself, of one's own, or given.
    pub kernel: Kernel,
    /// Its width; nothing takes the estimator's.
    pub gamma: Option<Gamma>,
    /// Its constant; nothing takes the estimator's.
    pub coef0: Option<f64>,
    /// Its power; nothing takes the estimator's.
    pub degree: Option<usize>,
}

impl Leaf {
    /// The kernel with its numbers; what is still open is that of a linear kernel.
    pub fn function(&self) -> Function {
        let gamma = match self.gamma {
            Some(Gamma::Number(gamma)) => gamma,
            _ => 1.0,
        };
        let (coef0, degree) = (self.coef0.unwrap_or(0.0), self.degree.unwrap_or(1));
        Function { kernel: self.kernel.clone(), gamma, coef0, degree }
    }

    /// The names of the numbers that a family has.
    fn names(kernel: &Kernel) -> &'static [&'static str] {
        match kernel {
            Kernel::Poly => &["gamma", "coef0", "degree"],
            Kernel::Sigmoid => &["gamma", "coef0"],
            Kernel::Rbf | Kernel::Laplacian | Kernel::Chi2 => &["gamma"],
            _ => &[],
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let known = Leaf::names(&self.kernel);
        if !known.contains(&name) {
            let list = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("`{}` has no number `{name}`; it has {list}", self.kernel));
        }
        let number = value.parse::<f64>().ok().filter(|v| v.is_finite());
        match (name, number) {
            ("gamma", Some(gamma)) if gamma >= 0.0 => self.gamma = Some(Gamma::Number(gamma)),
            ("gamma", None) => {
                let rule = serde_json::from_value(value.into());
                let rule = rule.map_err(|_| {
                    format!("gamma is `{value}`; it is a number of at least 0, scale or auto")
                })?;
                self.gamma = Some(Gamma::Rule(rule));
            }
            ("coef0", Some(coef0)) => self.coef0 = Some(coef0),
            ("degree", Some(degree))
                if (0.0..=1000.0).contains(&degree) && degree.fract() == 0.0 =>
            {
                self.degree = Some(degree as usize);
            }
            _ => return Err(format!("{name} is `{value}`, which it cannot be")),
        }
        Ok(())
    }
}

impl Expression {
    /// The formula with every number filled in.
    #[must_use]
    pub(super) fn resolved(&self, fill: impl Fn(&Leaf) -> Leaf) -> Expression {
        let product = |p: &Product| Product {
            factor: p.factor,
            kernels: p.kernels.iter().map(&fill).collect(),
        };
        Expression { products: self.products.iter().map(product).collect() }
    }

    /// All kernels in it.
    pub fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.products.iter().flat_map(|product| &product.kernels)
    }

    /// The value, from that of every kernel in it.
    pub fn combined(&self, value: impl Fn(&Leaf) -> f64) -> f64 {
        let product = |p: &Product| p.kernels.iter().fold(p.factor, |v, leaf| v * value(leaf));
        self.products.iter().map(product).sum()
    }

    /// The one kernel of a formula that is nothing else.
    fn alone(&self) -> Option<Kernel> {
        let [Product { factor: 1.0, kernels }] = &self.products[..] else { return None };
        let [leaf] = &kernels[..] else { return None };
        let plain = leaf.gamma.is_none() && leaf.coef0.is_none() && leaf.degree.is_none();
        plain.then(|| leaf.kernel.clone())
    }
}

impl FromStr for Kernel {
    type Err = String;

    /// A kernel by name, or a formula of kernels.
    fn from_str(text: &str) -> Result<Kernel, String> {
        if let Some(kernel) = Kernel::named(text) {
            return Ok(kernel);
        }
        let mut reader = Reader { text, at: 0 };
        let products = reader.sum(0)?;
        if reader.peek().is_some() {
            return Err(reader.unexpected("`+`, `*` or the end"));
        }
        let expression = Expression { products };
        if expression.leaves().next().is_none() {
            return Err("a formula of numbers alone is no kernel".into());
        }
        let composed = || Kernel::Composed(std::sync::Arc::new(expression.clone()));
        Ok(expression.alone().unwrap_or_else(composed))
    }
}

impl fmt::Display for Expression {
    /// A text that is read as the same formula.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, product) in self.products.iter().enumerate() {
            f.write_str(if k > 0 { "+" } else { "" })?;
            let mut star = "";
            if product.factor != 1.0 || product.kernels.is_empty() {
                write!(f, "{:?}", product.factor)?;
                star = "*";
            }
            for leaf in &product.kernels {
                write!(f, "{star}{leaf}")?;
                star = "*";
            }
        }
        Ok(())
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gamma = self.gamma.map(|gamma| match gamma {
            Gamma::Number(gamma) => format!("gamma={gamma:?}"),
            Gamma::Rule(rule) => format!("gamma={}", rule.word()),
        });
        let coef0 = self.coef0.map(|coef0| format!("coef0={coef0:?}"));
        let degree = self.degree.map(|degree| format!("degree={degree}"));
        let numbers: Vec<String> = [gamma, coef0, degree].into_iter().flatten().collect();
        match numbers[..] {
            [] => write!(f, "{}", self.kernel),
            _ => write!(f, "{}({})", self.kernel, numbers.join(",")),
        }
    }
}

/// Where a formula has been read to.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn unexpected(&mut self, wanted: &str) -> String {
        match self.peek() {
            Some(c) => format!("found `{c}` at place {} where {wanted} was expected", self.at + 1),
            None => format!("it ends where {wanted} was expected"),
        }
    }

    /// Everything up to a character that separates.
    fn word(&mut self, more: &str) -> &'a str {
        self.peek();
        let rest = &self.text[self.at..];
        let belongs = |c: char| c.is_alphanumeric() || c == '_' || more.contains(c);
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn sum(&mut self, depth: usize) -> Result<Vec<Product>, String> {
        if depth > DEEPEST {
            return Err(format!("parentheses are more than {DEEPEST} deep"));
        }
        let mut products = self.product(depth)?;
        while self.take('+') {
            products.extend(self.product(depth)?);
        }
        check_size(&products)?;
        Ok(products)
    }

    fn product(&mut self, depth: usize) -> Result<Vec<Product>, String> {
        let mut products = self.factor(depth)?;
        while self.take('*') {
            let factors = self.factor(depth)?;
            let times = |a: &Product, b: &Product| Product {
                factor: a.factor * b.factor,
                kernels: a.kernels.iter().chain(&b.kernels).cloned().collect(),
            };
            products = products.iter().flat_map(|a| factors.iter().map(|b| times(a, b))).collect();
            check_size(&products)?;
        }
        Ok(products)
    }

    fn factor(&mut self, depth: usize) -> Result<Vec<Product>, String> {
        if self.take('(') {
            let sum = self.sum(depth + 1)?;
            return if self.take(')') { Ok(sum) } else { Err(self.unexpected("`)`")) };
        }
        match self.peek() {
            Some(c) if c.is_ascii_digit() || c == '.' => {
                let number = self.number();
                let factor = number.parse::<f64>().ok().filter(|v| v.is_finite());
                let factor = factor.ok_or_else(|| format!("`{number}` is not a number"))?;
                Ok(vec![Product { factor, kernels: Vec::new() }])
            }
            Some(c) if c.is_alphabetic() => {
                let leaf = self.leaf()?;
                Ok(vec![Product { factor: 1.0, kernels: vec![leaf] }])
            }
            Some('-') => Err("a kernel times a negative number is no kernel".into()),
            _ => Err(self.unexpected("a kernel, a number of at least 0 or `(`")),
        }
    }

    /// A number, a sign behind its `e` included.
    fn number(&mut self) -> &'a str {
        let first = self.at;
        let mut word = self.word(".");
        if word.ends_with(['e', 'E']) && self.text[self.at..].starts_with(['+', '-']) {
            self.at += 1;
            self.word("");
            word = &self.text[first..self.at];
        }
        word
    }

    fn leaf(&mut self) -> Result<Leaf, String> {
        let name = self.word("");
        let kernel = match Kernel::named(name) {
            Some(Kernel::Precomputed) => {
                return Err("given kernel values have no part in a formula".into());
            }
            Some(kernel) => kernel,
            None => {
                return Err(format!(
                    "no kernel is called `{name}`; there are {}",
                    Kernel::VALUES.join(", ")
                ));
            }
        };
        let mut leaf = Leaf { kernel, gamma: None, coef0: None, degree: None };
        if self.take('(') && !self.take(')') {
            loop {
                let name = self.word("");
                if !self.take('=') {
                    return Err(self.unexpected("NAME=VALUE"));
                }
                let first = self.peek().map_or(self.at, |_| self.at);
                self.at += usize::from(self.text[self.at..].starts_with('-'));
                self.number();
                leaf.set(name, &self.text[first..self.at])?;
                if self.take(')') {
                    break;
                }
                if !self.take(',') {
                    return Err(self.unexpected("`,` or `)`"));
                }
            }
        }
        Ok(leaf)
    }
}

fn check_size(products: &[Product]) -> Result<(), String> {
    let n: usize = products.iter().map(|product| product.kernels.len().max(1)).sum();
    match n <= MOST {
        true => Ok(()),
        false => Err(format!("multiplied out it has more than {MOST} kernels")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_multiplied_out_and_written_as_it_is_read() {
        let written = |text: &str| text.parse::<Kernel>().map(|kernel| kernel.to_string());

        assert_eq!(written("rbf").as_deref(), Ok("rbf"));
        assert_eq!(written(" ( rbf ) ").as_deref(), Ok("rbf"));
        assert_eq!(written("polynomial").as_deref(), Ok("poly"));
        assert_eq!(written("rbf(gamma=0.1)+2*linear").as_deref(), Ok("rbf(gamma=0.1)+2.0*linear"));
        assert_eq!(
            written("(rbf + 1e-2) * 3*poly(degree=2, coef0=-1)").as_deref(),
            Ok("3.0*rbf*poly(coef0=-1.0,degree=2)+0.03*poly(coef0=-1.0,degree=2)")
        );
        for text in ["rbf(gamma=scale)*chi2", "0.5+laplacian(gamma=1e-07)", "2.0*rbf"] {
            let kernel: Kernel = text.parse().unwrap();
            assert_eq!(kernel.to_string().parse::<Kernel>(), Ok(kernel), "{text}");
        }
    }

    #[test]
    fn what_is_no_formula_is_refused_with_the_reason() {
        let why = |text: &str| text.parse::<Kernel>().unwrap_err();

        assert!(why("gauss").contains("no kernel is called `gauss`"));
        assert!(why("rbf+").contains("ends where"));
        assert!(why("rbf linear").contains("`l` at place 5"));
        assert!(why("-1*rbf").contains("negative"));
        assert!(why("rbf(degree=2)").contains("it has gamma"));
        assert!(why("rbf(gamma=-1)").contains("gamma is `-1`"));
        assert!(why("poly(degree=1.5)").contains("degree"));
        assert!(why("rbf(gamma").contains("NAME=VALUE"));
        assert!(why("rbf*precomputed").contains("given kernel values"));
        assert!(why("2").contains("numbers alone"));
        assert!(why("").contains("a kernel"));
        assert!(why(&"(".repeat(100)).contains("deep"));
        assert!(why(&["(rbf+linear)"; 8].join("*")).contains("more than 64"));
        assert!(why("1e999*rbf").contains("not a number"));
        assert!(why("é*rbf").contains("no kernel"));
    }
}
