import { BODY_ERRORS, type Operation } from './operation.ts'

/** Limits are those of other tenants, too. */
const limits = { family: 'manage-limits', allTenants: true } as const
const TENANT_LIMITS_PATH = '/v1/tenants/{tenantId}/limits'
const AGENT_LIMITS_PATH = '/v1/agents/{agentId}/limits'
const limitsResponse = { 200: { description: 'The limits', body: 'Limits' } } as const
const limitsDetailsResponse = {
  200: { description: 'The limits, and what is used of them', body: 'LimitsDetails' },
} as const
const LIMITS_BODY_ERRORS = [...BODY_ERRORS, 'InputSchemaMismatch'] as const

export const limitsOperations = {
  'list-limits': {
    ...limits,
    method: 'GET',
    scope: ['read', 'manage'],
    path: '/v1/limits',
    summary: 'List the limits of agents and tenants',
    query: 'limitsPageParameters',
    responses: {
      200: { description: 'Limits of agents, then those of tenants, each by ID', body: ['Limits'] },
    },
  },
  'get-tenant-limits': {
    ...limits,
    method: 'GET',
    scope: ['read', 'manage'],
    path: TENANT_LIMITS_PATH,
    summary: 'Get the limits of a tenant, and what is used of them',
    responses: limitsDetailsResponse,
    errors: ['LimitsNotFound'],
  },
  'put-tenant-limits': {
    ...limits,
    method: 'PUT',
    scope: 'manage',
    path: TENANT_LIMITS_PATH,
    audit: 'limits.put',
    summary: 'Set or replace the limits of a tenant',
    body: 'LimitsBody',
    responses: limitsResponse,
    errors: ['BadRequest', ...LIMITS_BODY_ERRORS],
  },
  'delete-tenant-limits': {
    ...limits,
    method: 'DELETE',
    scope: 'manage',
    path: TENANT_LIMITS_PATH,
    audit: 'limits.delete',
    summary: 'Delete the limits of a tenant',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['LimitsNotFound'],
  },
  'get-agent-limits': {
    ...limits,
    method: 'GET',
    scope: ['read', 'manage'],
    path: AGENT_LIMITS_PATH,
    summary: 'Get the limits of an agent, and what is used of them',
    responses: limitsDetailsResponse,
    errors: ['AgentNotFound', 'LimitsNotFound'],
  },
  'put-agent-limits': {
    ...limits,
    method: 'PUT',
    scope: 'manage',
    path: AGENT_LIMITS_PATH,
    audit: 'limits.put',
    summary: 'Set or replace the limits of an agent',
    body: 'LimitsBody',
    responses: limitsResponse,
    errors: ['AgentNotFound', ...LIMITS_BODY_ERRORS],
  },
  'delete-agent-limits': {
    ...limits,
    method: 'DELETE',
    scope: 'manage',
    path: AGENT_LIMITS_PATH,
    audit: 'limits.delete',
    summary: 'Delete the limits of an agent',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['AgentNotFound', 'LimitsNotFound'],
  },
} as const satisfies Record<string, Operation>
