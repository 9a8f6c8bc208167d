import { verifyToken } from '../../lib/access/tokens.ts'
import { agentIdOf } from '../../lib/core/ids.ts'
import type { RecordedStep } from '../../lib/core/step.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import type { Manifest } from './create-data.ts'

const ALL = { limit: 100, after: null }
const MAX_BYTES = 10_000_000
/** Later than every cleanup of the exported table. */
const HOUR_MS = 3_600_000

/** Everything that the exported table contains, read through the stores at the time of the export. */
export async function readData(stores: Stores, manifest: Manifest) {
  const { organizationId, exportedAt, token, agents, executions } = manifest
  return {
    organization: await stores.organizations.get({ id: organizationId }),
    organizations: (await stores.organizations.list(ALL)).items,
    token: await verifyToken(stores.tokens, `Bearer ${token}`, exportedAt),
    tokens: (await stores.tokens.list({ organizationId, ...ALL })).items,
    agents: (await stores.agents.list({ organizationId, ...ALL })).items,
    versions: await mapByName(agents, (slug) =>
      readVersions(stores, agentIdOf(organizationId, slug), manifest),
    ),
    executions: await mapByName(Object.keys(executions), (name) =>
      readExecution(stores, String(executions[name]), manifest),
    ),
    lists: await readLists(stores, manifest),
    stale: await stores.executions.listStale({ now: exportedAt + HOUR_MS, limit: 100 }),
    cleanups: await stores.executions.listCleanups({ now: exportedAt + HOUR_MS, limit: 100 }),
  }
}

async function readVersions({ agents }: Stores, agentId: string, { organizationId }: Manifest) {
  const { items } = await agents.listVersions({ organizationId, agentId, ...ALL })
  return {
    agent: await agents.get({ organizationId, id: agentId }),
    list: items,
    each: await Promise.all(
      items.map(async ({ id }) => ({
        version: await agents.getVersion({ organizationId, agentId, id }),
        code: await agents.getCode({ agentId, versionId: id }),
      })),
    ),
  }
}

async function readExecution({ executions, steps, cache }: Stores, id: string, manifest: Manifest) {
  const { organizationId, exportedAt } = manifest
  const record = await executions.get({ organizationId, id })
  return {
    record,
    status: await executions.getStatus({ organizationId, id }),
    steps: (await steps.read({ executionId: id })).map(toPlainStep),
    page: (await steps.list({ executionId: id, maxBytes: MAX_BYTES, ...ALL })).items.map(toPlainStep),
    progress: await steps.getProgress({ executionId: id }),
    cacheEntry: record?.cache ? await cache.get({ key: record.cache.key, now: exportedAt }) : null,
    examples: record && (await executions.getExamples({ ...record, ids: [id] })),
  }
}

/** The ids of each list, newest first, and one list of summaries. */
async function readLists({ executions }: Stores, { organizationId, agents }: Manifest) {
  const list = async (filter: object) => {
    const none = { organizationId, agentId: null, status: null, tenantId: null }
    return (await executions.list({ ...none, ...filter, ...ALL })).items.map(({ id }) => id)
  }
  const all = { organizationId, agentId: null, status: null, tenantId: null, ...ALL }
  const agentId = agentIdOf(organizationId, String(agents[0]))
  return {
    all: await list({}),
    agent: await list({ agentId }),
    tenant: await list({ tenantId: 'tenant-1' }),
    open: await list({ status: 'IN_PROGRESS' }),
    failed: await list({ status: 'ERROR' }),
    failedOfAgent: await list({ status: 'ERROR', agentId }),
    summaries: (await executions.listSummaries(all)).items,
    examples: await executions.listExamples({ organizationId, agentId, tenantId: null, limit: 100 }),
    count: await executions.countOpen({ organizationId, max: 10 }),
  }
}

const toPlainStep = ({ step, results }: RecordedStep) => ({ step, results: Object.fromEntries(results) })

async function mapByName<T>(names: string[], read: (name: string) => Promise<T>): Promise<Record<string, T>> {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await read(name)] as const)))
}
