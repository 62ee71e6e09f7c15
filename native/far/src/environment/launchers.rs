//! Variables that a program which started the host has set for the host alone. They are removed.
//! `src/command/launchers.ts` says why, and removes the same ones.

use crate::environment::blank::is_blank;
use crate::environment::variables::Variables;

/// Removes these variables, as if the host had been started without the program.
pub fn remove_launchers(variables: &mut Variables) {
    if PACKAGE_MANAGER.iter().any(|name| variables.get(name.as_bytes()).is_some()) {
        remove_package_manager(variables);
    }
    variables.retain(|name| !is_editors(name));
    remove_app_image(variables);
    rewrite(variables, b"NODE_OPTIONS", without_preloaded);
}

/// Variables of which at least one is set when a package manager has started the host.
const PACKAGE_MANAGER: [&str; 5] = [
    "npm_execpath",
    "npm_command",
    "npm_lifecycle_event",
    "npm_config_user_agent",
    "BERRY_BIN_FOLDER",
];

const MANAGERS_OWN: [&str; 10] = [
    "INIT_CWD",
    "COLOR",
    "PNPM_PACKAGE_NAME",
    "PNPM_SCRIPT_SRC_DIR",
    "pnpm_config_verify_deps_before_run",
    "BERRY_BIN_FOLDER",
    "PROJECT_CWD",
    "YARN_IGNORE_PATH",
    "COREPACK_ROOT",
    "BUN_WHICH_IGNORE_CWD",
];

fn remove_package_manager(variables: &mut Variables) {
    let node = variables.get(b"npm_node_execpath");
    if node.is_some() && variables.get(b"NODE") == node {
        variables.remove(b"NODE");
    }
    // The value that npm sets when the user has set none, and the default of programs.
    if variables.get(b"EDITOR") == Some(b"vi") {
        variables.remove(b"EDITOR");
    }
    variables.retain(|name| {
        !name.starts_with(b"npm_") && !MANAGERS_OWN.iter().any(|own| own.as_bytes() == name)
    });
    rewrite(variables, b"PATH", without_script_folders);
    rewrite(variables, b"NODE_PATH", |path| {
        kept(path, |folder| !contains(folder, b"/node_modules/.pnpm/"))
    });
}

/// Removes the folders of scripts that come before all others; the user's own ones further back stay.
fn without_script_folders(path: &[u8]) -> Vec<u8> {
    let folders: Vec<&[u8]> = path.split(|byte| *byte == b':').collect();
    let first = folders.iter().position(|folder| !is_script_folder(folder));
    first.and_then(|first| folders.get(first..)).unwrap_or_default().join(&b':')
}

/// Returns whether the folder's programs replace others while a script runs.
fn is_script_folder(folder: &[u8]) -> bool {
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    let mut names = folder.rsplit(|byte| *byte == b'/');
    let name = names.next().unwrap_or_default();
    let after = |start: &[u8]| name.strip_prefix(start);
    let is_hex = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    name == b".bin" && names.next() == Some(b"node_modules")
        || name == b"node-gyp-bin"
        || after(b"yarn--").is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit))
        || after(b"xfs-").is_some_and(|rest| rest.len() >= 6 && rest.iter().all(is_hex))
        || after(b"bun-node-").is_some()
}

const EDITORS_OWN: [&str; 4] = [
    "ELECTRON_RUN_AS_NODE",
    "ELECTRON_NO_ATTACH_CONSOLE",
    "ELECTRON_NO_ASAR",
    "APPLICATION_INSIGHTS_NO_DIAGNOSTIC_CHANNEL",
];

/// Returns whether an editor has set the variable. Keeps those by which `git` asks the editor for a
/// password, and `code` finds its window.
fn is_editors(name: &[u8]) -> bool {
    let is_kept = |rest: &[u8]| {
        rest.starts_with(b"GIT_")
            || rest.starts_with(b"ENV_")
            || rest == b"IPC_HOOK_CLI"
            || rest == b"PORTABLE"
    };
    EDITORS_OWN.iter().any(|own| own.as_bytes() == name)
        || name.starts_with(b"JB_IDE_")
        || name.strip_prefix(b"VSCODE_").is_some_and(|rest| !is_kept(rest))
}

fn remove_app_image(variables: &mut Variables) {
    let Some(mount) = variables.get(b"APPDIR").map(<[u8]>::to_vec) else { return };
    let is_app_image = variables.get(b"APPIMAGE").is_some()
        || variables.get(b"OWD").is_some()
        || contains(&mount, b"/.mount_");
    if !is_app_image || !mount.starts_with(b"/") || mount == b"/" {
        return;
    }
    variables.retain(|name| ![&b"APPDIR"[..], b"APPIMAGE", b"ARGV0", b"OWD"].contains(&name));
    let mount = mount.strip_suffix(b"/").unwrap_or(&mount);
    let is_inside = |path: &[u8]| {
        path.strip_prefix(mount).is_some_and(|rest| rest.first().is_none_or(|next| *next == b'/'))
    };
    variables.rewrite(
        |name, value| contains(name, mount) || contains(value, mount),
        |value| kept(value, |path| !is_inside(path)),
    );
}

/// Removes the options that preload a module; other options stay as they are, with the white space
/// between them.
fn without_preloaded(options: &[u8]) -> Vec<u8> {
    let (mut kept, mut from, mut at) = (Vec::new(), 0, 0);
    while at < options.len() {
        let is_start = at == 0 || options.get(at - 1).is_some_and(|before| is_blank(*before));
        let rest = options.get(at..).unwrap_or_default();
        let option = if is_start { preloading(rest) } else { None };
        let Some(length) = option else {
            at += 1;
            continue;
        };
        let (module, size) = word(rest.get(length..).unwrap_or_default());
        if is_preloaded(&module) {
            kept.extend_from_slice(options.get(from..at).unwrap_or_default());
            from = at + length + size;
            at = from;
        } else {
            at += length;
        }
    }
    if from == 0 {
        return options.to_vec();
    }
    kept.extend_from_slice(options.get(from..).unwrap_or_default());
    trimmed(&kept).to_vec()
}

const PRELOADING: [&str; 5] = ["--require", "-r", "--import", "--experimental-loader", "--loader"];

/// Returns the length of an option that names a module, with the white space or `=` after it.
fn preloading(text: &[u8]) -> Option<usize> {
    PRELOADING.iter().find_map(|option| {
        let rest = text.strip_prefix(option.as_bytes())?;
        let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
        let between = if rest.first() == Some(&b'=') { 1 } else { blanks };
        (between > 0).then_some(option.len() + between)
    })
}

/// Returns the first word, without its quotes, and its length with them.
fn word(text: &[u8]) -> (Vec<u8>, usize) {
    if let Some(quoted) = text.strip_prefix(b"\"") {
        let mut at = 0;
        while let Some(byte) = quoted.get(at) {
            match byte {
                b'"' => return (quoted.get(..at).unwrap_or_default().to_vec(), at + 2),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
    }
    let length = text.iter().position(|byte| is_blank(*byte)).unwrap_or(text.len());
    (text.get(..length).unwrap_or_default().to_vec(), length)
}

/// Returns whether the module is a package manager's or an editor's debugger's.
fn is_preloaded(module: &[u8]) -> bool {
    let ends = ["/.pnp.js", "/.pnp.cjs", "/.pnp.loader.mjs", "/debugConnector.js"];
    let mut folders: Vec<&[u8]> = module.split(|byte| *byte == b'/').skip(1).collect();
    let file = folders.pop().unwrap_or_default();
    ends.iter().any(|end| module.ends_with(end.as_bytes()))
        || file.ends_with(b"bootloader.js")
            && folders.iter().any(|folder| contains(folder, b"js-debug"))
}

fn trimmed(text: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !is_blank(*byte);
    let start = text.iter().position(is_text).unwrap_or(text.len());
    let end = text.iter().rposition(is_text).map_or(start, |last| last + 1);
    text.get(start..end).unwrap_or_default()
}

fn rewrite(variables: &mut Variables, name: &[u8], change: impl Fn(&[u8]) -> Vec<u8>) {
    variables.rewrite(|known, _| known == name, change);
}

/// Returns the list without the entries that are to go.
fn kept(list: &[u8], stays: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let entries = list.split(|byte| *byte == b':').filter(|entry| stays(entry));
    entries.collect::<Vec<_>>().join(&b':')
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
