export {
  type Artifact,
  type ArtifactDraft,
  ArtifactError,
  type ArtifactRange,
  type ArtifactStore,
} from '../artifacts/store.js';
