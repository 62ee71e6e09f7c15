# The from-source build for people with node-gyp habits: `npx node-gyp rebuild` has cargo build the
# addon and puts it where the loader looks first. There is no install script and package.json says
# "gypfile": false, so an ordinary install runs none of this.
{
  'targets': [
    {
      'target_name': 'forkline',
      'type': 'none',
      'actions': [
        {
          'action_name': 'cargo',
          'inputs': [],
          # Never written, so that the action always runs: cargo knows what is up to date.
          'outputs': ['<(INTERMEDIATE_DIR)/always'],
          'action': ['node', 'scripts/build-native.mjs'],
        },
      ],
    },
  ],
}
