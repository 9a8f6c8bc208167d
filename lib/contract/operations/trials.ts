import { BODY_ERRORS, listOf, managing, type Operation, reading, START_ERRORS, UNREAD } from './operation.ts'

/** Originals are of all tenants. */
const trial = { family: 'manage-trials', allTenants: true } as const

export const trialOperations = {
  'start-trial': {
    ...managing,
    ...trial,
    path: '/v1/agents/{agentId}/versions/{versionId}/trials',
    audit: 'trial.start',
    summary: 'Try a version on executions of the agent that have ended',
    headers: 'idempotencyHeaders',
    body: 'TrialBody',
    optionalBody: true,
    responses: { 202: { description: `The trial; ${UNREAD}`, body: 'ChangedTrial' } },
    errors: ['InvalidHeader', ...BODY_ERRORS, ...START_ERRORS],
  },
  'list-trials': {
    ...trial,
    ...reading,
    path: '/v1/trials',
    summary: 'List the trials of the organization',
    query: 'trialPageParameters',
    responses: listOf('Trials', 'Trial'),
    errors: ['AgentNotFound'],
  },
  'get-trial': {
    ...trial,
    ...reading,
    path: '/v1/trials/{trialId}',
    summary: 'Get a trial',
    responses: { 200: { description: 'The trial', body: 'Trial' } },
    errors: ['TrialNotFound'],
  },
  'list-trial-items': {
    ...trial,
    ...reading,
    path: '/v1/trials/{trialId}/items',
    summary: 'List the executions of a trial, with their verdicts',
    query: 'trialItemPageParameters',
    responses: { 200: { description: 'In the order of the originals', body: ['TrialItem'] } },
    errors: ['TrialNotFound'],
  },
  'cancel-trial': {
    ...managing,
    ...trial,
    path: '/v1/trials/{trialId}/cancel',
    audit: 'trial.cancel',
    summary: 'Cancel a trial and its executions that are in progress; one that has ended does not change',
    responses: { 202: { description: `The trial; ${UNREAD}`, body: 'ChangedTrial' } },
    errors: ['TrialNotFound'],
  },
  'delete-trial': {
    ...managing,
    ...trial,
    method: 'DELETE',
    path: '/v1/trials/{trialId}',
    audit: 'trial.delete',
    summary: 'Delete a trial that has ended, and its executions',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['TrialNotFound', 'BatchInProgress'],
  },
} as const satisfies Record<string, Operation>
