import type {
  ElicitRequestFormParams,
  ElicitResult,
  ServerContext,
} from '@modelcontextprotocol/server';
import { CLIENT_CAPABILITIES_META_KEY, type Server } from '@modelcontextprotocol/server';
import { describeExec, type ExecRequest } from '../../index.js';
import { isObject, type JsonObject } from '../message-fault.js';

/** Makes the question about a program: a form with one choice. */
export function formOf(request: ExecRequest): ElicitRequestFormParams {
  return {
    mode: 'form',
    message: ['May this program run?', ...describeExec(request)].join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        answer: { type: 'string', title: 'Answer', enum: ['deny', 'allow'], default: 'deny' },
      },
      required: ['answer'],
    },
  };
}

/** Reads a client's answer, which may be anything: what does not clearly allow it is a denial. */
export function decisionIn(result: unknown): 'allow' | 'deny' {
  if (!isObject(result)) return 'deny';
  const { action, content } = result as Partial<ElicitResult>;
  return action === 'accept' && content?.answer === 'allow' ? 'allow' : 'deny';
}

/** Whether a client can show its user a form, as it says itself. */
export function canAsk(server: Server, { mcpReq }: ServerContext): boolean {
  const capabilities: unknown = declaredBy({ mcpReq }) ?? server.getClientCapabilities();
  const elicitation = isObject(capabilities) ? capabilities.elicitation : undefined;
  if (!isObject(elicitation)) return false;
  // Before there were modes, all were forms.
  return elicitation.form !== undefined || elicitation.url === undefined;
}

/** Whether a request is of a revision by which a server's questions are answers to requests, since 2026-07-28. */
export function isByRounds({ mcpReq }: Pick<ServerContext, 'mcpReq'>): boolean {
  return declaredBy({ mcpReq }) !== undefined;
}

/** Returns what a request itself says that its client can do. */
function declaredBy({ mcpReq }: Pick<ServerContext, 'mcpReq'>): unknown {
  const envelope: JsonObject | undefined = mcpReq.envelope;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY];
}
