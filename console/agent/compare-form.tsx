import type { TargetedSubmitEvent } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/api/schemas/agent-record.ts'
import { shortId } from '../format/numbers.ts'
import { formatTime } from '../format/time.ts'
import { toHref, toPath } from '../state/location.ts'
import { navigate } from '../state/router.ts'

/** Chooses two versions to compare. At first the newest two: a draft and what it would replace, for example. */
export function CompareForm({ agent, versions }: { agent: AgentRecord; versions: VersionRecord[] }) {
  const id = useId()
  const [newest, second] = versions
  const [before, setBefore] = useState(second?.id ?? '')
  const [after, setAfter] = useState(newest?.id ?? '')
  if (!newest || !second) return null

  function compare(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    navigate(toHref(toPath('agents', agent.slug, 'compare'), { before, after }))
  }

  const options = versions.map((version) => (
    <option key={version.id} value={version.id}>
      {shortId(version.id)}, {formatTime(version.createdAt)}
      {version.id === agent.currentVersionId ? ' (current)' : version.status === 'DRAFT' ? ' (draft)' : ''}
    </option>
  ))
  return (
    <form class="compare-form" onSubmit={compare}>
      <label for={`${id}-before`}>Compare</label>
      <select
        id={`${id}-before`}
        value={before}
        onChange={({ currentTarget }) => setBefore(currentTarget.value)}
      >
        {options}
      </select>
      <label for={`${id}-after`}>with</label>
      <select
        id={`${id}-after`}
        value={after}
        onChange={({ currentTarget }) => setAfter(currentTarget.value)}
      >
        {options}
      </select>
      <button type="submit">Compare</button>
    </form>
  )
}
