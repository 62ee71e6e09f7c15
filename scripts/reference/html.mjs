// Makes the reference as pages for a browser, in build/api: `npm run docs:api`.

import { join } from 'node:path';
import { readFace, root } from './model.mjs';

const { application, project } = await readFace();
const directory = join(root, 'build/api');
await application.generateDocs(project, directory);
if (application.logger.hasErrors()) process.exitCode = 1;
else console.log(join(directory, 'index.html'));
