import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { shortId } from '../components/format.ts'
import { ApiError, CHANGED } from './api-error.ts'
import { requestJson } from './request.ts'

type Seen = Pick<AgentRecord, 'archivedAt' | 'currentVersionId' | 'rollout'>

/** What has happened to an agent since a page showed it, as sentences; null if it is what the page shows. */
export function describeChange(seen: Seen, now: Seen): string | null {
  const sentences: string[] = []
  if (seen.archivedAt === null && now.archivedAt !== null) sentences.push('The agent has been archived.')
  if (seen.archivedAt !== null && now.archivedAt === null) sentences.push('The agent has been restored.')
  if (seen.currentVersionId !== now.currentVersionId && now.currentVersionId !== null)
    sentences.push(`The version ${shortId(now.currentVersionId)} has become current.`)
  const rollout = describeRollout(seen.rollout, now.rollout)
  if (rollout !== null) sentences.push(rollout)
  return sentences.length === 0 ? null : sentences.join(' ')
}

function describeRollout(seen: Seen['rollout'], now: Seen['rollout']): string | null {
  if (now === null) return seen === null ? null : 'The rollout has ended.'
  if (seen === null) return `A rollout of the version ${shortId(now.versionId)} has started.`
  const isSame = seen.versionId === now.versionId && seen.updatedAt === now.updatedAt
  return isSame ? null : `The rollout has changed: ${shortId(now.versionId)} gets ${now.percent}%.`
}

/** Before a change of an agent: reads it again. @throws ApiError `CHANGED` if it is not what the user has seen */
export async function assertUnchanged(
  seen: AgentRecord,
  onChange: (now: AgentRecord) => void,
): Promise<void> {
  const now = await requestJson<AgentRecord>(`/v1/agents/${seen.id}`)
  const change = describeChange(seen, now)
  if (change === null) return
  onChange(now)
  throw new ApiError(`${change} Nothing was done yet.`, {
    status: 409,
    code: CHANGED,
    problem: {
      type: 'about:blank',
      title: 'Somebody was faster',
      status: 409,
      detail: change,
      instance: '',
      code: CHANGED,
    },
  })
}
