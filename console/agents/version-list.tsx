import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import { type List, useList } from '../api/use-list.ts'
import { ListView } from '../components/list.tsx'
import { Card } from '../components/page.tsx'
import { Person, Time, VersionLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { describeVersion, stateOf, VersionBadge } from '../versions/version-state.tsx'

/** The states of versions depend on the agent: they are loaded again when it changes. */
export function useVersions(agent: AgentRecord): List<VersionRecord> {
  const list = useList<VersionRecord>(`/v1/agents/${encodeURIComponent(agent.id)}/versions`, {
    query: { limit: 20 },
  })
  const { currentVersionId, draftVersionId, rollout } = agent
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) list.reload()
    isFirst.current = false
  }, [currentVersionId, draftVersionId, rollout?.versionId, rollout?.updatedAt])
  return list
}

export function VersionList({ agent, list }: { agent: AgentRecord; list: List<VersionRecord> }) {
  const isBound = useMe()?.tenantId != null
  return (
    <Card
      title="Versions"
      class="stack"
      actions={list.items.length > 0 && !isBound && <CompareForm agent={agent} versions={list.items} />}
    >
      <ListView
        list={list}
        noun="version"
        isUncounted
        caption={`Versions of ${agent.title}`}
        columns={{
          Version: ({ id }) => <VersionLink agent={agent.slug} versionId={id} />,
          Status: (version) => <VersionBadge version={version} state={stateOf(version, agent)} />,
          Created: ({ createdAt, createdBy, createdByName }) => (
            <Done at={createdAt} by={createdBy} name={createdByName} />
          ),
          Promoted: ({ promotedAt, promotedBy, promotedByName }) =>
            promotedAt !== null &&
            promotedBy !== null && <Done at={promotedAt} by={promotedBy} name={promotedByName} />,
          Model: ({ model }) => model !== null && <VisibleText text={model} class="mono" />,
          Tools: { text: ({ toolNames }) => toolNames.join(', ') || null },
          Message: { text: ({ message }) => message },
        }}
        empty="It has no versions."
      />
    </Card>
  )
}

const Done = ({ at, by, name }: { at: string; by: string; name: string | undefined }) => (
  <>
    <Time value={at} />
    <br />
    by <Person id={by} name={name} />
  </>
)

/** Chooses two versions to compare. At first the newest two: a draft and what it would replace, for example. */
function CompareForm({ agent, versions }: { agent: AgentRecord; versions: VersionRecord[] }) {
  const id = useId()
  const [newest, second] = versions
  const [before, setBefore] = useState(second?.id ?? '')
  const [after, setAfter] = useState(newest?.id ?? '')
  if (!newest || !second) return null

  function compare(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    navigate(toHref(toPath('agents', agent.slug, 'compare'), { before, after }))
  }

  const select = (value: string, onChoose: (id: string) => void, id: string) => (
    <select id={id} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      {versions.map((version) => (
        <option key={version.id} value={version.id}>
          {describeVersion(version, agent.currentVersionId)}
        </option>
      ))}
    </select>
  )
  return (
    <form class="actions" onSubmit={compare}>
      <label for={`${id}-before`}>Compare</label>
      {select(before, setBefore, `${id}-before`)}
      <label for={`${id}-after`}>with</label>
      {select(after, setAfter, `${id}-after`)}
      <button type="submit">Compare</button>
    </form>
  )
}
