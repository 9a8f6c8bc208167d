import { listAuditEntries } from '../lib/access/audit-log.ts'
import { auditParameters } from '../lib/api/parameters.ts'
import { toAuditRecord } from '../lib/api/to-audit-record.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { toPageResponse } from '../lib/http/responses.ts'
import { system } from '../lib/system.ts'

const { rates, audit } = openStores()
const stores = { audit, system }

const listEntries = async (request: Request<'list-audit-entries'>) =>
  toPageResponse(await listAuditEntries(stores, request), toAuditRecord, request)

export const handler = family({
  'list-audit-entries': endpoint('list-audit-entries', listEntries, { rates, query: auditParameters }),
})
