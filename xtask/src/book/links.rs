//! Links of the rendered book, to its own pages and to ids on them. Links to other hosts are left alone: a check that
//! needs the network fails for reasons that are not the book's.

use super::{files, read};
use crate::workspace::shown;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Describes every internal link below `output` that leads nowhere.
///
/// # Errors
/// If a page cannot be read.
pub(super) fn broken(output: &Path) -> Result<Vec<String>, String> {
    let mut pages = BTreeMap::new();
    for page in files(output, "html")? {
        let text = read(&page)?;
        pages.insert(page, text);
    }
    let mut problems = Vec::new();
    for (page, text) in &pages {
        // Its links are relative to the site that serves it, from any address.
        if page.file_name().is_some_and(|name| name == "404.html") {
            continue;
        }
        for link in values(text, &["href", "src"]).filter(|link| is_internal(link)) {
            if let Some(problem) = leads_nowhere(page, &link, &pages) {
                problems.push(format!("{}: link `{link}`: {problem}", shown(page)));
            }
        }
    }
    problems.dedup();
    Ok(problems)
}

fn leads_nowhere(page: &Path, link: &str, pages: &BTreeMap<PathBuf, String>) -> Option<String> {
    let (path, id) = link.split_once('#').map_or((link, None), |(path, id)| (path, Some(id)));
    let path = path.split('?').next().unwrap_or(path);
    let target = if path.is_empty() {
        page.to_path_buf()
    } else {
        resolve(page.parent().unwrap_or(Path::new("")), path)
    };
    if !target.exists() {
        return Some(format!("no file {}", shown(&target)));
    }
    let id = id.filter(|id| !id.is_empty())?;
    let text = pages.get(&target)?;
    let exists = values(text, &["id", "name"]).any(|known| known == id);
    (!exists).then(|| format!("no id `{id}` in {}", shown(&target)))
}

fn is_internal(link: &str) -> bool {
    let scheme = link.split(['/', '#', '?']).next().unwrap_or("").contains(':');
    !scheme && !link.starts_with("//") && !link.is_empty()
}

/// Joins a relative link to the folder of its page.
fn resolve(folder: &Path, link: &str) -> PathBuf {
    let mut target = folder.to_path_buf();
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir => {
                target.pop();
            }
            Component::Normal(name) => target.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    target
}

/// The values of some attributes in HTML, whose renderer always quotes them.
fn values<'a>(html: &'a str, attributes: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    attributes.iter().flat_map(move |attribute| {
        html.split(&format!(" {attribute}=\""))
            .skip(1)
            .filter_map(|rest| rest.split_once('"'))
            .map(|(value, _)| unescape(value))
            .collect::<Vec<_>>()
    })
}

fn unescape(value: &str) -> String {
    value
        .replace("&quot;", "\"")
        .replace("&#x27;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_inside_the_book_are_checked() {
        for link in ["a.html", "#top", "../b/c.html?x#y", "img/d.svg"] {
            assert!(is_internal(link), "{link}");
        }
        for link in ["https://example.org/a", "mailto:a@b", "data:image/png;base64,AA", "//cdn/x", ""] {
            assert!(!is_internal(link), "{link}");
        }
    }

    #[test]
    fn pages_and_ids_must_exist() {
        let folder = std::env::temp_dir().join(format!("tileproof-links-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write(
            "a.html",
            r##"<a href="sub/b.html#here">x</a> <a href="sub/b.html#gone">y</a> <a href="c.html">z</a>"##,
        );
        write("sub/b.html", r##"<h2 id="here"></h2> <a href="../a.html">up</a> <a href="#here">self</a>"##);
        let problems = broken(&folder).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].contains("`sub/b.html#gone`: no id `gone`"));
        assert!(problems[1].contains("`c.html`: no file"));
    }
}
