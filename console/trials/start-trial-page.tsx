import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { AgentRecord, VersionDetails, VersionRecord } from '../../lib/contract/records/agent.ts'
import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import { MAX_COST_USD } from '../../lib/core/limits.ts'
import { TRIAL_RUNS } from '../../lib/core/trial.ts'
import { getVersion, useAgents } from '../api/agents.ts'
import { withLabels } from '../api/api-error.ts'
import { newIdempotencyKey } from '../api/idempotency-key.ts'
import { requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { announce } from '../components/copy-button.tsx'
import { Card } from '../components/data.tsx'
import { Loaded } from '../components/detail-page.tsx'
import { useAction } from '../components/dialog.tsx'
import { AreaField, CheckList, Choices, NumberField, SelectField, TextField } from '../components/field.tsx'
import { formatTime, shortId } from '../components/format.ts'
import { ErrorBox, NeedsScope, Page } from '../components/page.tsx'
import { TextAfter, VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import {
  LABELS,
  liveTools,
  needsCostLimit,
  parseForm,
  type TrialForm,
  toFormQuery,
  toTrialBody,
} from './trial-form.ts'

/** Starts a trial. All that is entered is in the URL. */
export function StartTrialPage({ query }: { query: URLSearchParams }) {
  const form = parseForm(query)
  const set = (change: Partial<TrialForm>) =>
    navigate(toHref('/trials/new', toFormQuery({ ...form, ...change })), { replace: true })
  return (
    <Page title="Start a trial" parent={<a href={toHref('/trials', { agent: form.agent })}>Trials</a>}>
      <NeedsScope scope="manage">
        <div class="stack">
          <p class="muted note">
            Runs that have ended are repeated on a version, with their inputs and what their tools returned.
            What would need anything else ends as diverged: nothing happens outside. The trial can be
            cancelled at any time.
          </p>
          <Form form={form} set={set} />
        </div>
      </NeedsScope>
    </Page>
  )
}

type FormProps = { form: TrialForm; set: (change: Partial<TrialForm>) => void }

function Form({ form, set }: FormProps) {
  const agents = useAgents()
  const all = [...(agents?.values() ?? [])].filter(({ archivedAt }) => archivedAt === null)
  const isKnown = form.agent === '' || all.some(({ slug }) => slug === form.agent)
  return (
    <>
      <SelectField
        label="Agent"
        required
        value={form.agent}
        onChange={(agent) => set({ agent, version: '', live: [] })}
        choices={[
          ['', agents ? 'Choose an agent' : 'Loading agents…'],
          ...(isKnown ? [] : [[form.agent, form.agent] as const]),
          ...all.map(({ slug, title }) => [slug, title] as const),
        ]}
      />
      {form.agent !== '' && <OfAgent key={form.agent} form={form} set={set} />}
    </>
  )
}

/** The rest of the form, which depends on the versions of the agent. */
function OfAgent({ form, set }: FormProps) {
  const path = `/v1/agents/${encodeURIComponent(form.agent)}`
  const loaded = useResource('agent', async (signal) => {
    const [agent, versions] = await Promise.all([
      requestJson<AgentRecord>(path, { signal }),
      requestJson<VersionRecord[]>(`${path}/versions`, { query: { limit: 100 }, signal }),
    ])
    return { agent, versions: versions.filter(({ retiredAt }) => retiredAt === null) }
  })
  return (
    <Loaded of={loaded} label="Loading the versions of the agent…">
      {({ agent, versions }) => {
        const version = form.version || (agent.draftVersionId ?? versions[0]?.id ?? '')
        if (version === '')
          return <p class="empty">The agent has no version to try. Publish a draft of it, then come back.</p>
        const isListed = versions.some(({ id }) => id === version)
        return (
          <>
            <SelectField
              label="Version that is tried"
              value={version}
              onChange={(chosen) => set({ version: chosen, live: [] })}
              choices={[
                ...(isListed ? [] : [[version, shortId(version)] as const]),
                ...versions.map((each) => [each.id, describeVersion(each, agent)] as const),
              ]}
            />
            <OfVersion key={version} agent={agent} versionId={version} form={form} set={set} />
          </>
        )
      }}
    </Loaded>
  )
}

function describeVersion({ id, status, createdAt, message }: VersionRecord, agent: AgentRecord): string {
  const state = id === agent.currentVersionId ? 'current' : status === 'DRAFT' ? 'draft' : null
  return [
    `${shortId(id)}, ${formatTime(createdAt)}`,
    ...(state ? [`(${state})`] : []),
    ...(message ? [message.slice(0, 60)] : []),
  ].join(' ')
}

type OfVersionProps = FormProps & { agent: AgentRecord; versionId: string }

function OfVersion({ agent, versionId, form, set }: OfVersionProps) {
  const version = useResource('version', (signal) => getVersion(agent.id, versionId, signal))
  const key = useRef(newIdempotencyKey())
  const body = version.data && JSON.stringify(toTrialBody(form, liveTools(version.data)))
  // The same key for the same trial: sent twice, it starts once.
  useEffect(() => {
    key.current = newIdempotencyKey()
  }, [body])
  const { isRunning, error, start } = useAction(async () => {
    const path = `/v1/agents/${agent.id}/versions/${encodeURIComponent(versionId)}/trials`
    const started = await requestJson<Pick<TrialRecord, 'id'>>(path, {
      method: 'POST',
      body: body ?? undefined,
      headers: { 'Idempotency-Key': key.current },
    })
    announce('The trial is started.')
    navigate(toHref(toPath('trials', started.id)))
  })

  function submit(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    void start()
  }

  return (
    <Loaded of={version} label="Loading the version…">
      {(data) => (
        <form class="stack" onSubmit={submit}>
          <Originals form={form} set={set} />
          <Sources version={data} form={form} set={set} />
          {error && <ErrorBox error={withLabels(error, LABELS)} />}
          <div class="actions">
            <button type="submit" class="primary" disabled={isRunning}>
              {isRunning ? 'Starting…' : 'Start trial'}
            </button>
          </div>
        </form>
      )}
    </Loaded>
  )
}

const Originals = ({ form, set }: FormProps) => (
  <Card title="Runs that are repeated" class="stack">
    <div class="fields">
      <NumberField
        label={LABELS.limit}
        help="The newest ones."
        value={form.limit}
        range={{ ...TRIAL_RUNS, step: 1 }}
        isRequired
        onChange={(limit) => set({ limit })}
      />
      <TextField
        label={LABELS.from}
        type="datetime-local"
        max={form.to}
        value={form.from}
        onChange={(from) => set({ from })}
      />
      <TextField
        label={LABELS.to}
        type="datetime-local"
        min={form.from}
        value={form.to}
        onChange={(to) => set({ to })}
      />
      <TextField
        label={LABELS.tenantId}
        maxLength={MAX_TENANT_ID}
        placeholder="All"
        value={form.tenantId}
        onChange={(tenantId) => set({ tenantId })}
      />
      <SelectField
        label={LABELS.feedback}
        value={form.feedback}
        onChange={(feedback) => set({ feedback })}
        choices={[
          ['', 'With and without'],
          ['corrected', 'Only corrected runs'],
          ['rated', 'Only rated runs'],
        ]}
      />
    </div>
    <p class="muted">
      Cancelled runs, copies of cached results, and runs of drafts, agents and trials are left out.
    </p>
  </Card>
)

function Sources({ version, form, set }: FormProps & { version: VersionDetails }) {
  const tools = liveTools(version)
  const others = version.toolNames.filter((name) => !tools.includes(name))
  const isLimited = needsCostLimit(form, version)
  return (
    <Card title="What is recorded, and what it may cost" class="stack">
      {!version.code && (
        <Choices
          label={LABELS.models}
          choices={{
            live: 'Live: the model of the version answers',
            recorded: 'Recorded, until a request differs from that of the original',
          }}
          value={form.models}
          onChange={(models) => set({ models })}
        />
      )}
      {tools.length > 0 && (
        <CheckList
          label="Tools that are called"
          value={form.live}
          onChange={(live) => set({ live })}
          choices={tools.map((name) => [name, <VisibleText key={name} text={name} />])}
        />
      )}
      <p class="muted">
        {version.toolNames.length === 0
          ? 'The version has no tools.'
          : tools.length === 0
            ? 'All tools give what they gave to the original: only tools that the document marks as read-only can be called.'
            : 'All others give what they gave to the original'}
        {tools.length > 0 && <TextAfter text={others.join(', ')} />}
        {tools.length > 0 && '. Only tools that the document marks as read-only can be called.'}
      </p>
      <NumberField
        label={`${LABELS.maxTrialCostUsd} (US dollars)${isLimited ? '' : ', optional'}`}
        help={
          isLimited
            ? 'Required, because models are called: what all responses of the trial may cost together. It is checked before each request, so that each run in progress can exceed it by one response. Then no further run is started.'
            : version.code
              ? 'What the agents that it calls may cost together.'
              : 'What responses may cost where a request differs. Without it, such runs end there, and no model is called.'
        }
        value={form.maxCost}
        range={MAX_COST_USD}
        isRequired={isLimited}
        onChange={(maxCost) => set({ maxCost })}
      />
      <AreaField
        label={`${LABELS.ignore}, optional`}
        help="Parts of outputs and of what tools are asked, as JSON Pointers, one per line: times, for example."
        placeholder="/createdAt"
        value={form.ignore}
        onChange={(ignore) => set({ ignore })}
      />
    </Card>
  )
}
