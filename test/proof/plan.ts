import type { Account, Identity } from './aws/account.ts'
import { type Deployed, readDeployed } from './aws/deploy.ts'
import { disturb, listDisturbances } from './aws/disturbances.ts'
import { collectFigures } from './aws/figures.ts'
import { destroyStack } from './aws/proof-stack.ts'
import { listResources } from './aws/stack-resources.ts'
import { checkAcceptance } from './checks/acceptance.ts'
import { checkLoad, type Service } from './checks/load.ts'
import { prepareService } from './checks/prepare.ts'
import { checkSmoke } from './checks/smoke.ts'
import type { ProofPlan } from './run-proof.ts'
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
  /** Where the checks find the deployed service. */
  prepare?: (deployed: Deployed) => Promise<Service>
  pauseShare?: number
}

/** What a proof of a stack does, in this order. */
export function planProof(options: PlanOptions): ProofPlan<Service> {
  const { account, state, signal, onProgress, keep, minutes, perSecond, settleMinutes } = options
  const { prepare = prepareService, deploy, pauseShare } = options
  const { stack } = state
  const durationMs = minutes * 60_000
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
      async load(service) {
        const disturbances = listDisturbances(account, await listResources(account, stack))
        return checkLoad(service, {
          durationMs,
          perSecond,
          settleMs: settleMinutes * 60_000,
          signal,
          disturb: (stopped) => disturb(disturbances, { durationMs, signal: stopped, onProgress }),
          ...(pauseShare !== undefined && { pauseShare }),
        })
      },
      figures: async () =>
        collectFigures(account, {
          stack,
          resources: await listResources(account, stack),
          since: new Date(state.startedAt),
        }),
    },
    destroy: () => destroyStack(account, options),
  }
}
