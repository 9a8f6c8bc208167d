import { readProvider } from '../lib/access/protected-resource.ts'
import { MCP_DEADLINE_MS } from '../lib/core/limits.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { withMetricsAndOutbox } from '../lib/engine/notifications/metrics-and-outbox.ts'
import { openSubmitEngine } from '../lib/engine/submit/accept.ts'
import { readCorsOrigins } from '../lib/http/cors.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { limitOpenRequests } from '../lib/limits/open-requests.ts'
import { respondToMcp } from '../lib/mcp/respond-to-mcp.ts'
import { openDeliveryQueue } from '../lib/sqs/delivery-queue.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const stores = withMetricsAndOutbox(openStores(), { queue: openDeliveryQueue(), system })
const engine = openSubmitEngine({ ...stores, queue: openRunQueue(), system }, MCP_DEADLINE_MS.streamed)
const openRequests = limitOpenRequests('serve-mcp', stores.rates)
const corsOrigins = readCorsOrigins()
const provider = readProvider()

const serveMcp = ({ access, event }: Request<'serve-mcp'>) =>
  respondToMcp({
    engine: { ...engine, audit: stores.audit, tokens: stores.tokens, openRequests },
    ...{ corsOrigins, provider, access, event },
  })

export const handler = endpoint('serve-mcp', serveMcp, { rates: stores.rates })
