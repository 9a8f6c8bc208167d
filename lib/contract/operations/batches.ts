import { BODY_ERRORS, listOf, type Operation, reading, START_ERRORS, UNREAD } from './operation.ts'

/** All of them stream: a function cannot serve both kinds. */
const batch = { family: 'manage-batches', streams: true } as const

export const batchOperations = {
  'start-batch': {
    ...batch,
    method: 'POST',
    path: '/v1/agents/{agentId}/batches',
    summary: 'Run an agent with many inputs',
    scope: 'run',
    query: 'batchParameters',
    headers: 'idempotencyHeaders',
    body: 'BatchBody',
    rawBody: true,
    bodyLines: true,
    responses: {
      200: { description: 'The batch is valid (`validateOnly=true`)', body: 'BatchCheck' },
      202: { description: 'The batch', body: 'Batch' },
    },
    errors: ['InvalidHeader', ...BODY_ERRORS, 'InvalidModelOverride', ...START_ERRORS],
  },
  'list-batches': {
    ...batch,
    ...reading,
    path: '/v1/batches',
    summary: 'List the batches of the organization',
    query: 'batchPageParameters',
    responses: listOf('Batches', 'Batch'),
    errors: ['AgentNotFound'],
  },
  'get-batch': {
    ...batch,
    ...reading,
    path: '/v1/batches/{batchId}',
    summary: 'Get a batch, or its progress as an event stream',
    headers: 'batchHeaders',
    responses: {
      200: {
        description:
          'The batch; server-sent events if `Accept` names `text/event-stream`: `counts` (the batch, whenever its lines have changed) and at the end `ended` (the batch)',
        body: 'Batch',
        events: true,
      },
    },
    errors: ['InvalidHeader', 'BatchNotFound'],
  },
  'list-batch-results': {
    ...batch,
    ...reading,
    path: '/v1/batches/{batchId}/results',
    summary: 'Get the results of a batch, also while it is in progress',
    query: 'resultPageParameters',
    responses: {
      200: {
        description: 'Results in the order of the inputs, as lines of JSON',
        body: 'BatchResult',
        lines: true,
      },
    },
    errors: ['BatchNotFound'],
  },
  'list-batch-executions': {
    ...batch,
    ...reading,
    path: '/v1/batches/{batchId}/executions',
    summary: 'List the executions of a batch',
    query: 'lineExecutionPageParameters',
    responses: {
      200: { description: 'Executions in the order of the inputs', body: ['ListedExecution'] },
    },
    errors: ['BatchNotFound'],
  },
  'cancel-batch': {
    ...batch,
    method: 'POST',
    path: '/v1/batches/{batchId}/cancel',
    audit: 'batch.cancel',
    summary: 'Cancel a batch and its executions that are in progress; one that has ended does not change',
    scope: 'run',
    responses: { 202: { description: `The batch; ${UNREAD}`, body: 'ChangedBatch' } },
    errors: ['BatchNotFound'],
  },
  'retry-batch': {
    ...batch,
    method: 'POST',
    path: '/v1/batches/{batchId}/retry-failed',
    summary: 'Start a new batch of the lines of one that has ended which failed or were not started',
    scope: 'run',
    query: 'retryParameters',
    headers: 'idempotencyHeaders',
    responses: { 202: { description: `The new batch; ${UNREAD}`, body: 'ChangedBatch' } },
    errors: ['InvalidHeader', 'InvalidModelOverride', ...START_ERRORS, 'BatchNotFound', 'BatchInProgress'],
  },
  'delete-batch': {
    ...batch,
    method: 'DELETE',
    path: '/v1/batches/{batchId}',
    audit: 'batch.delete',
    summary: 'Delete a batch that has ended, and its executions',
    scope: 'manage',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['BatchNotFound', 'BatchInProgress'],
  },
} as const satisfies Record<string, Operation>
