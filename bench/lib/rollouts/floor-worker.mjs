import { workerData } from 'node:worker_threads';
import { throughputOf } from '../floor.mjs';

throughputOf(workerData.list, workerData.agents);
