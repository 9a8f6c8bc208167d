import { kindOf, type Version } from '../../core/agent.ts'
import { PAGE_SIZE } from '../../core/limits.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { LimitStore } from '../../core/ports/usage.ts'
import { InvalidQueryParameter } from '../../core/request-errors.ts'
import { hasCostLimit, type LimitSubject } from '../../core/usage-limits.ts'
import type { Environment } from '../../environment.ts'
import { limitsOf } from '../../limits/limits.ts'
import { modelsOf } from '../models-of.ts'

type Run = { version: Version; tenantId: string | null; model: string | null | undefined }

/**
 * Checks a model that a call chooses where a cost limit of its tenant or agent applies: without a price, it would evade
 * the limit. The model of the agent itself runs, with a warning.
 * @throws InvalidQueryParameter, Unavailable
 */
export async function checkLimitedModel(
  limits: Pick<LimitStore, 'hasAny' | 'get'> | undefined,
  { version, tenantId, model }: Run,
  environment: Environment = process.env,
): Promise<void> {
  if (!limits || !model) return
  const limited = (await limitsOf(limits, { ...version, tenantId })).find(hasCostLimit)
  if (!limited) return
  const { findUnpriced } = await import('../../models/prices/price-table.ts')
  if ((await findUnpriced([model], environment)).length === 0) return
  const { parseModelName, prefixOf } = await import('../../models/model-name.ts')
  const [asked, own] = [model, ...modelsOf(version, null, environment)].map((name) =>
    parseModelName(name, environment),
  )
  if (asked && own && prefixOf(asked) === prefixOf(own) && asked.model === own.model) return
  const { kind, id } = limited.subject
  const message = `The model ${model} has no price, and the ${kind} ${id} has a limit in US dollars (maxCostUsd), which would not count it. Choose a model with a price, or set it with MODEL_PRICES.`
  throw new InvalidQueryParameter([{ path: 'model', message }])
}

type Limited = { organizationId: string } & ({ subject: LimitSubject } | { version: Version })

/**
 * Sentences about models without a price, which cost limits do not count: those of a limited agent, of the newest 100
 * agents for a limited tenant, or of a version that is published while its organization has limits.
 * Best effort.
 */
export async function findCostWarnings(
  { agents, limits }: { agents: Pick<AgentStore, 'get' | 'list'>; limits: Pick<LimitStore, 'hasAny'> },
  { organizationId, ...limited }: Limited,
): Promise<string[]> {
  const list = async () => (await agents.list({ organizationId, limit: PAGE_SIZE.max, after: null })).items
  const versions = async () => {
    if ('version' in limited) return (await limits.hasAny({ organizationId })) ? [limited.version] : []
    const { kind, id } = limited.subject
    const found = kind === 'tenant' ? await list() : [await agents.get({ organizationId, id })]
    return found.map((agent) => agent?.current)
  }
  const { findUnpriced } = await import('../../models/prices/price-table.ts')
  const warnings = (await versions().catch(() => [])).map(async (version) => {
    if (!version || kindOf(version) !== 'model') return []
    // Runs say what is wrong with names that cannot be parsed here.
    const names = await findUnpriced(modelsOf(version, null, process.env), process.env).catch(() => [])
    return names.map(
      (name) =>
        `The model ${name} of the agent ${version.slug} has no price, so limits in US dollars (maxCostUsd) do not count it. Set it with MODEL_PRICES.`,
    )
  })
  return (await Promise.all(warnings)).flat()
}
