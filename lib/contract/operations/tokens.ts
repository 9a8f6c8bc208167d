import { BODY_ERRORS, listOf, type Operation } from './operation.ts'

/** A token that is limited to a tenant or to agents sees nothing of tokens that may do more. */
const tokens = { family: 'manage-access', scope: 'manage' } as const

export const tokenOperations = {
  'list-audit-entries': {
    family: 'manage-access',
    method: 'GET',
    scope: 'manage',
    allTenants: true,
    path: '/v1/audit',
    summary: 'List the changes of the organization',
    query: 'auditParameters',
    responses: listOf('Changes', 'AuditEntry'),
  },
  'list-tokens': {
    ...tokens,
    method: 'GET',
    path: '/v1/tokens',
    summary: 'List the API tokens of the organization',
    query: 'pageParameters',
    responses: listOf('Tokens', 'Token'),
  },
  'create-token': {
    ...tokens,
    method: 'POST',
    path: '/v1/tokens',
    audit: 'token.create',
    summary: 'Create an API token, which may do no more than the one of the request',
    body: 'TokenBody',
    responses: { 201: { description: 'The token, which is not shown again', body: 'CreatedToken' } },
    errors: [...BODY_ERRORS, 'InputSchemaMismatch'],
  },
  'revoke-token': {
    ...tokens,
    method: 'DELETE',
    path: '/v1/tokens/{tokenId}',
    audit: 'token.revoke',
    summary: 'Revoke an API token, at once or after a time',
    query: 'revocationParameters',
    responses: { 200: { description: 'The token, with its end', body: 'Token' } },
    errors: ['TokenNotFound'],
  },
} as const satisfies Record<string, Operation>
