import type { AgentRecord, VersionDetails } from '../../lib/contract/records/agent.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { loadVersion, nameOfVersion } from '../api/agents.ts'
import { requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { CopyButton } from '../components/button.tsx'
import { AgentPath, DetailPage, FactsCard } from '../components/detail-page.tsx'
import { StartButton, useAction } from '../components/dialog.tsx'
import { formatBytes, formatCountOf } from '../components/format.ts'
import { JsonView, TextBox, TextPortions } from '../components/json-view.tsx'
import { Card, ErrorBox, Facts } from '../components/page.tsx'
import { CopiedId, Person, Time } from '../components/values.tsx'
import { say, Text } from '../components/visible-text.tsx'
import { SchemaCard } from '../schema/schema-table.tsx'
import { VersionScores } from '../scores/scores.tsx'
import { describeGate } from './gate.tsx'
import { EditLink, RepositoryCard } from './repository-card.tsx'
import { VersionActions, type VersionChange } from './version-actions.tsx'
import { limitsOf, modelSettingsOf } from './version-settings.ts'
import { stateOf, VersionBadge, VersionMeaning } from './version-state.tsx'
import { VersionTools } from './version-tools.tsx'

type Loaded = { agent: AgentRecord; version: VersionDetails }

export function VersionPage({ agent: idOrSlug, versionId }: { agent: string; versionId: string }) {
  const loaded = useResource(`${idOrSlug} ${versionId}`, (signal) => loadVersion(idOrSlug, versionId, signal))
  const { data, setData, reload } = loaded

  function change(changed: VersionChange) {
    if (!data) return
    setData({
      agent: changed.agent ?? data.agent,
      version: changed.version ? { ...data.version, ...changed.version } : data.version,
    })
    // A release also changes the version, and a retirement is recorded by the agent.
    reload()
  }

  return (
    <DetailPage
      of={loaded}
      label="Loading the version…"
      title={`Version ${nameOfVersion(data?.version ?? { id: versionId })}`}
      parent={<AgentPath agent={data?.agent.slug ?? idOrSlug} title={data?.agent.title} />}
      detail={({ agent, version }) => (
        <>
          <VersionBadge version={version} state={stateOf(version, agent)} />
          {agent.archivedAt !== null && <span class="badge badge-warning">Agent archived</span>}
        </>
      )}
      actions={(shown) => <VersionActions {...shown} onChange={change} />}
    >
      {(shown) => <Version {...shown} />}
    </DetailPage>
  )
}

const Version = ({ agent, version }: Loaded) => (
  <>
    <FactsCard
      facts={{
        ID: <CopiedId id={version.id} />,
        Created: <Time value={version.createdAt} />,
        'Created by': say`${<Person id={version.createdBy} name={version.createdByName} />} ${<CopyButton text={version.createdBy} subject="who created it" />}`,
        Promoted:
          version.promotedAt !== null &&
          version.promotedBy !== null &&
          say`${<Time value={version.promotedAt} />} by ${<Person id={version.promotedBy} name={version.promotedByName} />}`,
        Retired: version.retiredAt && <Time value={version.retiredAt} />,
        Content: <code title={version.contentHash}>{version.contentHash.slice(0, 12)}</code>,
      }}
    >
      <VersionMeaning agent={agent} version={version} />
      <Text class="long-text" text={version.message} />
    </FactsCard>
    {version.editedFrom && <RepositoryCard agent={agent} version={version} from={version.editedFrom} />}
    <div class="grid">
      <Card title={version.remote ? 'Remote agent' : version.code ? 'Code agent' : 'Model'}>
        <Facts facts={modelSettingsOf(version)} />
      </Card>
      <Card title="Limits">
        <Facts facts={limitsOf(version)} />
      </Card>
    </div>
    {version.code ? (
      <VersionCode key={version.id} {...{ agent, version }} />
    ) : (
      <Instructions agent={agent} version={version} />
    )}
    <VersionTools tools={version.tools} />
    <div class="grid">
      <SchemaCard title="Input" schema={version.inputSchema as JsonObject} />
      <SchemaCard title="Output" schema={version.outputSchema as JsonObject} />
    </div>
    {version.scorers && <VersionScores agentId={version.documentId} versionId={version.id} />}
    <Release version={version} />
    {version.schedules && (
      <Card title="Schedules">
        <p class="muted">The agent has them while this version is current.</p>
        <JsonView value={version.schedules} label="the schedules" />
      </Card>
    )}
  </>
)

function Instructions({ agent, version }: Loaded) {
  const text = version.instructions
  return (
    <Card
      title="Instructions"
      class="stack"
      actions={
        <span class="actions">
          {text !== '' && <CopyButton text={text} label="Copy instructions" />}
          <EditLink agent={agent} version={version} />
        </span>
      }
    >
      {text === '' ? (
        <p class="muted">It has none.</p>
      ) : (
        <TextBox label="Text of the instructions">
          <TextPortions text={text} />
        </TextBox>
      )}
    </Card>
  )
}

/** The code of a code agent: up to some megabytes, so only on request. */
function VersionCode({ agent, version }: Loaded) {
  const loading = useAction(async () => {
    const path = `/v1/agents/${version.documentId}/versions/${version.id}`
    const { sourceCode = '' } = await requestJson<VersionDetails>(path, { query: { sourceCode: true } })
    return sourceCode
  })
  const { result, error, start } = loading
  return (
    <Card
      title="Code"
      class="stack"
      actions={
        <span class="actions">
          {result !== null && <CopyButton text={result} label="Copy code" />}
          <EditLink agent={agent} version={version} />
        </span>
      }
    >
      {result === null && !error && (
        <p>
          <StartButton of={loading} label="Show the code" busy="Loading the code…" />
        </p>
      )}
      {error && <ErrorBox error={error} onRetry={start} />}
      {result !== null && (
        <>
          <p class="muted" role="status">
            {formatBytes(new TextEncoder().encode(result).length)},{' '}
            {formatCountOf(result.trimEnd().split('\n').length, 'line')}, bundled as it runs.
          </p>
          <TextBox label="Text of the code">
            <TextPortions text={result} />
          </TextBox>
        </>
      )}
    </Card>
  )
}

/** What another version has to meet before it replaces this one. */
function Release({ version }: { version: VersionDetails }) {
  const { promotion } = version.execution
  if (!promotion) return null
  const phrases = describeGate(promotion)
  return (
    <Card title="Before another version replaces it">
      <p>
        {promotion.require === 'trial' ? 'A trial is required.' : 'No trial is required.'}
        {phrases.length > 0 && ` A trial has to have ${phrases.join(', ')}.`}
      </p>
    </Card>
  )
}
