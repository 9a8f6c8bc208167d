import type { AgentRecord, VersionDetails, VersionRecord } from '../../lib/contract/records/agent.ts'
import { nameOfVersion } from '../api/agents.ts'
import { formatTime } from '../components/format.ts'
import { Time } from '../components/values.tsx'
import { say } from '../components/visible-text.tsx'
import { restOf } from '../rollouts/rollout-form.ts'
import { toHref, toPath } from '../state/location.ts'

type VersionState = 'current' | 'rollout' | 'draft' | 'retired' | 'superseded'

type Version = Pick<VersionRecord, 'id' | 'status' | 'retiredAt' | 'rollout'>

export function stateOf(
  version: Version,
  { currentVersionId }: Pick<AgentRecord, 'currentVersionId'>,
): VersionState {
  if (version.id === currentVersionId) return 'current'
  if (version.retiredAt !== null) return 'retired'
  if (version.rollout) return 'rollout'
  return version.status === 'DRAFT' ? 'draft' : 'superseded'
}

const LABELS: Record<VersionState, string> = {
  current: 'Current',
  rollout: 'Rollout',
  draft: 'Draft',
  retired: 'Retired',
  superseded: 'Superseded',
}

const CLASSES: Record<VersionState, string> = {
  current: 'badge-success',
  rollout: 'badge-in_progress',
  draft: 'badge-warning',
  retired: 'badge-warning',
  superseded: '',
}

export const VersionBadge = ({ version, state }: { version: Version; state: VersionState }) => (
  <span class={`badge ${CLASSES[state]}`} title={version.retiredAt ?? undefined}>
    {LABELS[state]}
    {state === 'rollout' && `: ${version.rollout?.percent}%`}
  </span>
)

const MEANINGS: Record<VersionState, string> = {
  current: 'Runs that name no version get this one.',
  rollout: 'A part of the runs that name no version get this one; the others get the current version.',
  draft: 'It runs only where a request names it, with a token that has the scopes run and manage.',
  retired: 'It accepts no new runs, and cannot become current.',
  superseded: 'Another version is current. This one still runs where a request names it.',
}

/** What the state of a version means for runs, and where its page leads from there. */
export function VersionMeaning({ agent, version }: { agent: AgentRecord; version: VersionDetails }) {
  const state = stateOf(version, agent)
  const { abortedRollout: aborted } = version
  const isOther = agent.currentVersionId !== null && state !== 'current'
  return (
    <>
      <p>
        {agent.archivedAt !== null
          ? 'The agent is archived: no version of it accepts new runs.'
          : state === 'current' && agent.rollout
            ? `${restOf(agent.rollout.percent)}% of the runs that name no version get this one; the others get the version that is being rolled out.`
            : MEANINGS[state]}{' '}
        {isOther && (
          <a
            href={toHref(toPath('agents', agent.slug, 'compare'), {
              before: agent.currentVersionId,
              after: version.id,
            })}
          >
            Compare with the current version
          </a>
        )}
        {state === 'current' &&
          say`To roll back, open the version that worked in the ${<a href={toHref(toPath('agents', agent.slug))}>list of versions</a>}.`}
      </p>
      {aborted && (
        <p class="field-error">
          The service ended its rollout on <Time value={aborted.at} />
          {aborted.reason && say`: ${aborted.reason}`}
        </p>
      )}
    </>
  )
}

/** Whether it was published before the one that is current: promoting it is a step back. */
export const isOlder = (version: Pick<Version, 'id' | 'status'>, currentId: string | null): boolean =>
  version.status === 'PUBLISHED' && currentId !== null && version.id < currentId

type Described = Pick<VersionRecord, 'id' | 'status' | 'createdAt'> & { number?: number | null | undefined }

/** `v3, 12:05:00 (draft)`. @param currentId the version of the agent that is current, if it is to be told */
export function describeVersion(version: Described, currentId?: string | null): string {
  const isDraft = version.status === 'DRAFT'
  const state = version.id === currentId ? ' (current)' : isDraft ? ' (draft)' : ''
  return `${nameOfVersion(version)}, ${formatTime(version.createdAt)}${state}`
}
