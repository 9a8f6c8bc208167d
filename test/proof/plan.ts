import { createClient } from '../support/service/client.ts'
import type { Account, Identity } from './aws/account.ts'
import { type Deployed, readDeployed } from './aws/deploy.ts'
import { disturb, listDisturbances } from './aws/disturbances.ts'
import { collectFigures } from './aws/figures.ts'
import { destroyStack } from './aws/proof-stack.ts'
import { checkRestore, removeRestored } from './aws/restore.ts'
import { findResource, listResources } from './aws/stack-resources.ts'
import { checkAcceptance } from './checks/acceptance.ts'
import { checkLimits } from './checks/limits.ts'
import { checkLoad, type Service } from './checks/load.ts'
import { prepareService } from './checks/prepare.ts'
import { checkSmoke } from './checks/smoke.ts'
import type { Findings, ProofPlan } from './run-proof.ts'
import type { ProofState, StateFile } from './state-file.ts'

export type PlanOptions = {
  account: Account
  identity: Identity
  state: ProofState
  file: StateFile
  minutes: number
  perSecond: number
  settleMinutes: number
  keep: boolean
  signal: AbortSignal
  onProgress: (line: string) => void
  /** Deploys the stack of the state. */
  deploy: () => Promise<void>
  /** Destroys it. */
  destroy?: () => Promise<Findings>
  /** Where the checks find the deployed service. */
  prepare?: (deployed: Deployed) => Promise<Service>
  pauseShare?: number
}

/** What a proof of a stack does, in this order. */
export function planProof(options: PlanOptions): ProofPlan<Service> {
  const { account, state, signal, onProgress, keep, minutes, perSecond, settleMinutes } = options
  const { prepare = prepareService, deploy, pauseShare } = options
  const { destroy = () => destroyStack(account, options) } = options
  const { stack } = state
  const durationMs = minutes * 60_000
  let restoring: Promise<Findings> | undefined
  return {
    keep,
    signal,
    onProgress,
    async deploy() {
      await deploy()
      return prepare(await readDeployed(account, stack))
    },
    checks: {
      smoke: checkSmoke,
      acceptance: checkAcceptance,
      limits: (service) => checkLimits(account, service),
      async load(service) {
        const resources = await listResources(account, stack)
        const disturbances = listDisturbances(account, resources)
        const tableName = findResource(resources, 'AWS::DynamoDB::Table', 'Table')
        // A restore takes minutes, and the load does not notice it.
        restoring = findAnyRun(service, tableName).then((run) =>
          checkRestore(account, { stack, tableName, run }),
        )
        restoring.catch(() => undefined)
        return checkLoad(service, {
          durationMs,
          perSecond,
          settleMs: settleMinutes * 60_000,
          signal,
          disturb: (stopped) => disturb(disturbances, { durationMs, signal: stopped, onProgress }),
          ...(pauseShare !== undefined && { pauseShare }),
        })
      },
      restore: async () => restoring ?? { problems: ['Nothing was restored.'] },
      figures: async () =>
        collectFigures(account, {
          stack,
          resources: await listResources(account, stack),
          since: new Date(state.startedAt),
        }),
    },
    async destroy() {
      await restoring?.catch(() => undefined)
      await removeRestored(account, stack)
      return destroy()
    },
  }
}

/** An execution of the service; null if its table is not that of the stack, as in tests. */
async function findAnyRun({ baseUrl, token, organizationId, table }: Service, tableName: string) {
  if (table.name !== tableName) return null
  const { json } = await createClient(baseUrl, token)('GET', '/v1/agent_executions?limit=1')
  return { organizationId, id: String(json[0].id) }
}
