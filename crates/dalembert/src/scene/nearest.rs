//! "Did you mean …?"

/// Names longer than this are not compared.
const LONGEST: usize = 64;

/// The candidate nearest to `name`, if one is near enough to be a slip of the pen: at most one edit for each three
/// letters, where an edit inserts, deletes or changes a letter or swaps two neighbours. The first of equals wins.
///
/// ```
/// use dalembert::scene::nearest;
/// assert_eq!(nearest("lenght", ["mass", "length"]), Some("length"));
/// assert_eq!(nearest("zeta", ["mass", "length"]), None);
/// ```
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let letters = lower(name);
    if letters.is_empty() || letters.len() > LONGEST {
        return None;
    }
    let mut best = None;
    let mut allowed = letters.len().div_ceil(3);
    for candidate in candidates {
        // A letter has at most four bytes, so this keeps every candidate that could be near.
        if candidate.is_empty() || candidate.len() > 4 * (letters.len() + allowed) {
            continue;
        }
        let other = lower(candidate);
        if other.len().abs_diff(letters.len()) > allowed {
            continue;
        }
        let distance = distance(&letters, &other);
        if distance <= allowed && distance < letters.len().max(other.len()) {
            best = Some(candidate);
            if distance == 0 {
                break;
            }
            allowed = distance - 1;
        }
    }
    best
}

fn lower(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).collect()
}

/// The Damerau–Levenshtein distance (restricted: no letter is edited twice), row by row.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(a: &str, b: &str) -> usize {
        distance(&lower(a), &lower(b))
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!(between("", "abc"), 3);
        assert_eq!(between("kitten", "sitting"), 3);
        assert_eq!(between("lenght", "length"), 1);
        assert_eq!(between("ca", "abc"), 3);
        assert_eq!(between("Mass", "mass"), 0);
    }

    #[test]
    fn only_near_names_are_suggested() {
        assert_eq!(nearest("stifness", ["damping", "stiffness"]), Some("stiffness"));
        assert_eq!(nearest("m", ["x", "y"]), None);
        assert_eq!(nearest("bodies", ["body", "joint"]), None);
        assert_eq!(nearest("boby", ["body", "joint"]), Some("body"));
        assert_eq!(nearest("", ["body"]), None);
        assert_eq!(nearest(&"x".repeat(100_000), ["x"]), None);
    }
}
