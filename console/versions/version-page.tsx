import './versions.css'
import type { AgentRecord, VersionDetails } from '../../lib/contract/records/agent.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { getVersion } from '../api/agents.ts'
import { requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Facts } from '../components/data.tsx'
import { shortId } from '../components/format.ts'
import { JsonView } from '../components/json-view.tsx'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'
import { Time } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { restOf } from '../rollouts/rollout-form.ts'
import { SchemaCard } from '../schema/schema-card.tsx'
import { toHref, toPath } from '../state/location.ts'
import { describeGate } from './gate.tsx'
import { TextBox } from './text-box.tsx'
import { VersionActions, type VersionChange } from './version-actions.tsx'
import { VersionCode } from './version-code.tsx'
import { limitsOf, modelSettingsOf, type Settings } from './version-settings.ts'
import { MEANINGS, stateOf, VersionBadge } from './version-state.tsx'
import { VersionTools } from './version-tools.tsx'

type Loaded = { agent: AgentRecord; version: VersionDetails }

/** One version of an agent: what it is, what it may do, and what can be done with it. */
export function VersionPage({ agent: idOrSlug, versionId }: { agent: string; versionId: string }) {
  const { data, error, reload, setData } = useResource(`${idOrSlug} ${versionId}`, async (signal) => {
    const [agent, version] = await Promise.all([
      requestJson<AgentRecord>(`/v1/agents/${encodeURIComponent(idOrSlug)}`, { signal }),
      getVersion(idOrSlug, versionId, signal),
    ])
    return { agent, version }
  })

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
    <Page
      title={`Version ${shortId(versionId)}`}
      parent={
        <>
          <a href="#/agents">Agents</a> ›{' '}
          <a href={toHref(toPath('agents', data?.agent.slug ?? idOrSlug))}>
            <VisibleText text={data?.agent.title ?? idOrSlug} />
          </a>
        </>
      }
      detail={data && <States {...data} />}
      actions={data && <VersionActions {...data} onChange={change} />}
    >
      {error && <ErrorBox error={error} onRetry={reload} />}
      {!data && !error && <Spinner label="Loading the version…" />}
      {data && <Version {...data} />}
    </Page>
  )
}

const States = ({ agent, version }: Loaded) => (
  <>
    <VersionBadge version={version} state={stateOf(version, agent)} />
    {agent.archivedAt !== null && <span class="badge badge-warning">Agent archived</span>}
  </>
)

function Version({ agent, version }: Loaded) {
  return (
    <div class="stack">
      <section class="card" aria-label="Facts">
        <Meaning agent={agent} version={version} />
        {version.message !== null && (
          <p class="version-note">
            <VisibleText text={version.message} />
          </p>
        )}
        <Facts
          facts={{
            ID: (
              <>
                <code>{version.id}</code> <CopyButton text={version.id} subject="the ID" />
              </>
            ),
            Created: <Time value={version.createdAt} />,
            'Created by': (
              <>
                <code title={version.createdBy}>{shortId(version.createdBy)}</code>{' '}
                <CopyButton text={version.createdBy} subject="who created it" />
              </>
            ),
            Retired: version.retiredAt !== null && <Time value={version.retiredAt} />,
            Content: <code title={version.contentHash}>{version.contentHash.slice(0, 12)}</code>,
          }}
        />
      </section>
      <div class="grid">
        <SettingsCard title={version.code ? 'Code agent' : 'Model'} settings={modelSettingsOf(version)} />
        <SettingsCard title="Limits" settings={limitsOf(version)} />
      </div>
      {!version.code && (
        <section class="card" aria-labelledby="instructions-title">
          <div class="toolbar">
            <h2 id="instructions-title">Instructions</h2>
            {version.instructions !== '' && (
              <CopyButton text={version.instructions} label="Copy instructions" />
            )}
          </div>
          {version.instructions === '' ? (
            <p class="muted">It has none.</p>
          ) : (
            <TextBox label="Text of the instructions" text={version.instructions} />
          )}
        </section>
      )}
      {version.code && <VersionCode key={version.id} version={version} />}
      <VersionTools tools={version.tools} />
      <div class="grid">
        <SchemaCard title="Input" schema={version.inputSchema as JsonObject} />
        <SchemaCard title="Output" schema={version.outputSchema as JsonObject} />
      </div>
      <Release version={version} />
      {version.schedules && (
        <section class="card" aria-labelledby="schedules-title">
          <h2 id="schedules-title">Schedules</h2>
          <p class="muted">The agent has them while this version is current.</p>
          <JsonView value={version.schedules} label="the schedules" />
        </section>
      )}
    </div>
  )
}

/** What the state of the version means for runs, and what it can be compared with. */
function Meaning({ agent, version }: Loaded) {
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
        {state === 'current' && (
          <>
            To roll back, open the version that worked in the{' '}
            <a href={toHref(toPath('agents', agent.slug))}>list of versions</a>.
          </>
        )}
      </p>
      {aborted && (
        <p class="field-error">
          The service ended its rollout on <Time value={aborted.at} />
          {aborted.reason !== undefined && (
            <>
              : <VisibleText text={aborted.reason} />
            </>
          )}
        </p>
      )}
    </>
  )
}

const SettingsCard = ({ title, settings }: { title: string; settings: Settings }) => (
  <section class="card" aria-label={title}>
    <h2>{title}</h2>
    <Facts
      facts={Object.fromEntries(
        Object.entries(settings).map(([name, value]) => [
          name,
          value !== null && <VisibleText text={value} />,
        ]),
      )}
    />
  </section>
)

/** What another version has to meet before it replaces this one. */
function Release({ version }: { version: VersionDetails }) {
  const { promotion } = version.execution
  if (!promotion) return null
  const phrases = describeGate(promotion)
  return (
    <section class="card" aria-labelledby="gate-title">
      <h2 id="gate-title">Before another version replaces it</h2>
      <p>
        {promotion.require === 'trial' ? 'A trial is required.' : 'No trial is required.'}
        {phrases.length > 0 && ` A trial has to have ${phrases.join(', ')}.`}
      </p>
    </section>
  )
}
