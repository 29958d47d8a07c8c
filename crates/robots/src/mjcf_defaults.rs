//! Default classes of MJCF: attributes that elements inherit.

use crate::ReadError;
use crate::xml::{elements, parse_array};
use roxmltree::Node;
use std::collections::HashMap;

/// The attributes of one class for each kind of element, with those of the classes above.
type Class<'a> = HashMap<(&'a str, &'a str), &'a str>;

/// All classes by name.
#[derive(Debug, Default)]
pub(crate) struct Defaults<'a> {
    classes: HashMap<&'a str, Class<'a>>,
}

impl<'a> Defaults<'a> {
    /// Reads a `<default>` element with all below.
    pub fn read(&mut self, node: &Node<'a, '_>) {
        // Breadth first by hand: files can be nested deeper than a stack allows.
        let mut open = vec![(*node, Class::new())];
        while let Some((node, mut class)) = open.pop() {
            for element in elements(&node).filter(|e| !e.has_tag_name("default")) {
                for attribute in element.attributes() {
                    class.insert((element.tag_name().name(), attribute.name()), attribute.value());
                }
            }
            for inner in elements(&node).filter(|e| e.has_tag_name("default")) {
                open.push((inner, class.clone()));
            }
            self.classes.entry(node.attribute("class").unwrap_or("main")).or_default().extend(class);
        }
    }

    /// The attribute of an element: its own, that of its class, or that of the class in force.
    pub fn get(&self, node: &Node<'a, '_>, inherited: &str, name: &str) -> Option<&'a str> {
        let class = node.attribute("class").unwrap_or(inherited);
        node.attribute(name).or_else(|| self.class(class, node.tag_name().name(), name))
    }

    /// The attribute of an element that classes know by the name of another kind: its own, or that of its class.
    pub fn get_as(&self, node: &Node<'a, '_>, kind: &str, name: &str) -> Option<&'a str> {
        node.attribute(name).or_else(|| self.class(node.attribute("class").unwrap_or("main"), kind, name))
    }

    fn class(&self, class: &str, kind: &str, name: &str) -> Option<&'a str> {
        self.classes.get(class).and_then(|c| c.get(&(kind, name))).copied()
    }

    /// The N numbers of an attribute.
    pub fn numbers<const N: usize>(
        &self,
        node: &Node<'a, '_>,
        inherited: &str,
        name: &str,
    ) -> Result<Option<[f64; N]>, ReadError> {
        self.get(node, inherited, name)
            .map(|text| {
                parse_array(text).map_err(|e| ReadError::at_attribute(node, name, format!("attribute `{name}`: {e}")))
            })
            .transpose()
    }

    /// The number of an attribute.
    pub fn number(&self, node: &Node<'a, '_>, inherited: &str, name: &str) -> Result<Option<f64>, ReadError> {
        Ok(self.numbers::<1>(node, inherited, name)?.map(|[x]| x))
    }
}
