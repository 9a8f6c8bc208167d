import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import type { Gate } from '../../lib/core/trial.ts'
import { findVersion } from '../api/agents.ts'
import { nullIf } from '../api/api-error.ts'
import { requestJson, requestPage } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { SelectField } from '../components/field.tsx'
import { describeGate, describeTrial, trialHref } from './gate.tsx'

/** What the current version asks for before another one replaces it. @throws ApiError */
async function readGate(agent: AgentRecord, signal: AbortSignal): Promise<Gate | null> {
  const { id, currentVersionId } = agent
  const current = currentVersionId === null ? null : await findVersion(id, currentVersionId, signal)
  return current?.execution.promotion ?? null
}

export type Release = { agent: AgentRecord; gate: Gate | null }

/** Null if the agent is gone. @throws ApiError */
export async function readRelease(agentId: string, signal: AbortSignal): Promise<Release | null> {
  const agent = await requestJson<AgentRecord>(`/v1/agents/${agentId}`, { signal }).catch(nullIf(404))
  return agent && { agent, gate: await readGate(agent, signal) }
}

const TRIALS = 20

/** What decides whether a version may be released: the gate of the current version, and the trials of this one. */
export const useRelease = (agent: AgentRecord, versionId: string) =>
  useResource(`${agent.currentVersionId} ${versionId}`, async (signal) => {
    const query = { agent: agent.id, version: versionId, limit: TRIALS }
    const [gate, trials] = await Promise.all([
      readGate(agent, signal),
      versionId === '' ? null : requestPage<TrialRecord>('/v1/trials', { query, signal }),
    ])
    return { gate, trials: trials?.items ?? [] }
  })

/** The newest trial that can count: one that has ended, and was not cancelled. */
export const newestEnded = (trials: TrialRecord[]): TrialRecord | undefined =>
  trials.find(({ status, cancelled }) => status === 'ENDED' && !cancelled)

type Props = {
  gate: Gate | null
  trials: TrialRecord[]
  /** Empty: none. */
  value: string
  onChange: (trialId: string) => void
  agent: string
  versionId: string
}

/** The trial that has to meet what the current version asks for. Nothing if neither of them exists. */
export function TrialChoice({ gate, trials, agent, versionId, ...chosen }: Props) {
  const phrases = gate ? describeGate(gate) : []
  if (!gate && trials.length === 0) return null
  return (
    <div>
      {gate && (
        <p>
          {gate.require === 'trial' ? 'The current version requires a trial' : 'A trial that is given has'}
          {phrases.length > 0 && `${gate.require === 'trial' ? ' with' : ' to have'} ${phrases.join(', ')}`}.
        </p>
      )}
      {trials.length > 0 ? (
        <SelectField
          label="Trial that has to pass"
          {...chosen}
          choices={[['', 'None'], ...trials.map((trial) => [trial.id, describeTrial(trial)] as const)]}
        />
      ) : (
        <p>
          This version has no trial yet. <a href={trialHref(agent, versionId)}>Start a trial</a>
        </p>
      )}
    </div>
  )
}
