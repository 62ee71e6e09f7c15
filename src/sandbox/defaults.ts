/**
 * Settings that control other programs: commands cannot write them below any writable directory. A
 * process that changed them could have commands run outside of the sandbox, by git, an editor or an
 * agent. The settings that git obeys in its own directories are in `git/places.ts`.
 */
export const KEPT_SETTINGS: readonly string[] = [
  '.vscode',
  '.idea',
  '.zed',
  '.devcontainer',
  '.claude',
  '.codex',
  '.cursor',
  '.gemini',
  '.windsurf',
  '.aider.conf.yml',
  '.mcp.json',
  // For a workspace that is a home directory.
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zprofile',
  '.zshenv',
  '.zlogin',
  '.gitconfig',
  '.config/git',
  '.config/fish',
  '.config/systemd',
  '.config/autostart',
  '.vimrc',
  '.vim',
  '.config/nvim',
  '.npmrc',
  '.tmux.conf',
];

/** Keys, tokens and histories, in a home directory. */
export const HIDDEN_IN_HOME: readonly string[] = [
  '.ssh',
  '.aws',
  '.azure',
  '.gnupg',
  '.netrc',
  '.docker',
  // What it shows instead is in `keys/docker-config.ts`.
  '.docker/config.json',
  '.kube',
  '.git-credentials',
  '.pypirc',
  '.vault-token',
  '.password-store',
  '.terraform.d',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.config/gh',
  '.config/git/credentials',
  '.config/gcloud',
  '.config/hub',
  '.config/op',
  '.config/rclone',
  '.config/google-chrome',
  '.config/chromium',
  '.local/share/keyrings',
  '.mozilla',
  '.claude/.credentials.json',
  '.codex/auth.json',
  '.gemini/oauth_creds.json',
  '.bash_history',
  '.zsh_history',
  '.node_repl_history',
  '.python_history',
  '.psql_history',
  '.mysql_history',
  '.local/share/fish/fish_history',
];

/** Files of the machine, for commands of root. */
export const HIDDEN_IN_SYSTEM: readonly string[] = ['/etc/shadow', '/etc/gshadow'];

/**
 * Variables that name sockets of the host, which do not exist in a sandbox. A program that found the name
 * would look for the socket's owner, and report an error.
 */
export const SOCKET_VARIABLES: readonly string[] = [
  'SSH_AUTH_SOCK',
  'SSH_AGENT_PID',
  'GPG_AGENT_INFO',
  'DBUS_SESSION_BUS_ADDRESS',
  'DBUS_SYSTEM_BUS_ADDRESS',
  'DOCKER_HOST',
  'XDG_RUNTIME_DIR',
  'WAYLAND_DISPLAY',
  'DISPLAY',
  'TMUX',
  'TMUX_PANE',
  'STY',
];

/** The port of the proxy on the sandbox's own loopback. */
export const PROXY_PORT = 3128;
