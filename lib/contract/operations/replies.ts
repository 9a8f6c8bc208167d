import { MAX_PAYLOAD_BYTES, MAX_SIGNAL_BYTES } from '../../core/limits.ts'
import { BODY_ERRORS, changedExecutionResponse, type Operation, reading } from './operation.ts'

const signalRequest = {
  headers: 'signalHeaders',
  body: 'SignalData',
  anyBody: true,
  maxBodyBytes: MAX_SIGNAL_BYTES,
  responses: { 202: { description: 'The signal is kept until a wait takes it', body: 'SentSignal' } },
} as const

const SIGNAL_ERRORS = [
  'InvalidHeader',
  ...BODY_ERRORS,
  'ExecutionNotFound',
  'InputSchemaMismatch',
  'IdempotencyKeyReused',
] as const

/** What people and other systems send to an execution: decisions, feedback and signals. */
export const replyOperations = {
  'list-approvals': {
    family: 'decide-approval',
    method: 'GET',
    path: '/v1/approvals',
    summary: 'List the approvals that executions wait for',
    scope: ['approve', 'read'],
    query: 'approvalPageParameters',
    responses: {
      200: { description: 'Approvals, those of the newest execution first', body: ['Approval'] },
    },
    errors: ['AgentNotFound'],
  },
  'decide-approval': {
    family: 'decide-approval',
    method: 'POST',
    path: '/v1/agent_executions/{executionId}/approvals/{approvalId}',
    audit: 'approval.decide',
    summary: 'Approve or reject what an execution waits for',
    scope: 'approve',
    body: 'DecisionBody',
    responses: { 200: { description: 'The decision', body: 'Decision' } },
    errors: [
      ...BODY_ERRORS,
      'ExecutionNotFound',
      'ApprovalNotFound',
      'ApprovalDecided',
      'ExecutionEnded',
      'InputSchemaMismatch',
    ],
  },
  'give-feedback': {
    method: 'PUT',
    path: '/v1/agent_executions/{executionId}/feedback',
    audit: 'execution.review',
    summary: 'Rate or correct the result of an execution',
    scope: ['run', 'review', 'manage'],
    body: 'FeedbackBody',
    responses: changedExecutionResponse,
    errors: [
      ...BODY_ERRORS,
      'ExecutionNotFound',
      'VersionNotFound',
      'ExecutionInProgress',
      'FeedbackMismatch',
    ],
    streams: true,
  },
  'send-signal': {
    family: 'send-signal',
    method: 'POST',
    path: '/v1/agent_executions/{executionId}/signals/{name}',
    summary: 'Send data to an execution that waits for it, or will',
    scope: 'run',
    ...signalRequest,
    errors: ['BadRequest', ...SIGNAL_ERRORS, 'ExecutionEnded'],
  },
  'list-signals': {
    family: 'send-signal',
    ...reading,
    path: '/v1/agent_executions/{executionId}/signals',
    summary: 'List the signals that no wait of an execution has taken',
    query: 'pageParameters',
    responses: { 200: { description: 'Signals, oldest first', body: ['Signal'] } },
    errors: ['ExecutionNotFound'],
  },
  'send-callback': {
    family: 'send-signal',
    method: 'POST',
    path: '/v1/callbacks/{executionId}/{name}/{mac}',
    summary:
      'Send data to an execution by a URL of `context.callbackUrl`, or the result of a remote agent by its `callbackUrl`',
    public: true,
    optionalBody: true,
    ...signalRequest,
    // The result of a remote agent; other data is limited as that of signals is.
    maxBodyBytes: MAX_PAYLOAD_BYTES,
    errors: [...SIGNAL_ERRORS, 'ExecutionEnded'],
  },
} as const satisfies Record<string, Operation>
