import { listAuditEntries } from '../lib/access/audit-log.ts'
import { createToken, listTokens, revokeToken } from '../lib/access/manage-tokens.ts'
import { tokenBody } from '../lib/contract/bodies/tokens.ts'
import { auditParameters, pageParameters, revocationParameters } from '../lib/contract/parameters/lists.ts'
import { toAuditRecord } from '../lib/contract/records/audit.ts'
import { toTokenRecord } from '../lib/contract/records/token.ts'
import { InputSchemaMismatch } from '../lib/core/request-errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { checkMembers } from '../lib/http/json-body.ts'
import { toPageResponse } from '../lib/http/responses.ts'
import { system } from '../lib/system.ts'

const { rates, tokens, audit: auditLog } = openStores()
const audit = auditRequests(auditLog)
const stores = { audit: auditLog, tokens, system }
const rules = { kind: 'field of a token', Mismatch: InputSchemaMismatch }

const listEntries = async (request: Request<'list-audit-entries'>) =>
  toPageResponse(await listAuditEntries(stores, request), toAuditRecord, request)

const list = async (request: Request<'list-tokens'>) =>
  toPageResponse(await listTokens(stores, request), toTokenRecord, request)

async function create({ access, body, note }: Request<'create-token'>) {
  const given = checkMembers(tokenBody, body, rules)
  const { token, text } = await createToken(stores, { access, given })
  const { id, name, scopes, agents, tenantId, rate, expiresAt } = token
  note({ target: { id }, name, scopes, agents, tenantId, rate, expiresAt })
  return { status: 201, body: { ...toTokenRecord(token), token: text } }
}

async function revoke({ access, tokenId, query: { afterSeconds }, note }: Request<'revoke-token'>) {
  const token = await revokeToken(stores, { access, tokenId, afterSeconds })
  note({ name: token.name, expiresAt: token.expiresAt })
  return { status: 200, body: toTokenRecord(token) }
}

export const handler = family({
  'list-audit-entries': endpoint('list-audit-entries', listEntries, { rates, query: auditParameters }),
  'list-tokens': endpoint('list-tokens', list, { rates, query: pageParameters }),
  'create-token': endpoint('create-token', create, { rates, audit }),
  'revoke-token': endpoint('revoke-token', revoke, { rates, audit, query: revocationParameters }),
})
