import * as limits from '../lib/core/limits.ts'
import { openMeasuredStores } from '../lib/dynamodb/open-measured-stores.ts'
import { readTimes } from '../lib/engine/engine.ts'
import { admission } from '../lib/engine/submit/admission.ts'
import {
  MAX_OPEN_EXECUTIONS,
  readDurationMs,
  readInteger,
  SYNC_DEADLINE_SECONDS,
} from '../lib/environment.ts'
import { readCorsOrigins } from '../lib/http/cors.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { respondToMcp } from '../lib/mcp/respond-to-mcp.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const stores = openMeasuredStores()
const { streamed } = limits.MCP_DEADLINE_MS
const engine = {
  ...stores,
  queue: openRunQueue(),
  system,
  admit: admission(
    { executions: stores.executions, system },
    readInteger(MAX_OPEN_EXECUTIONS, limits.MAX_OPEN_EXECUTIONS),
  ),
  times: readTimes(),
  syncDeadlineMs: Math.min(readDurationMs(SYNC_DEADLINE_SECONDS, streamed), streamed),
}
const corsOrigins = readCorsOrigins()

const serveMcp = ({ access, event }: Request<'serve-mcp'>) =>
  respondToMcp({ engine, corsOrigins, access, event })

export const handler = endpoint('serve-mcp', serveMcp, { rates: stores.rates })
