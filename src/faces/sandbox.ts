export { markBefore } from '../sandbox/git/checkout/checkout.js';
