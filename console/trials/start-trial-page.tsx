import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
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
import { useAction } from '../components/dialog.tsx'
import { Choices, Field, NumberField } from '../components/field.tsx'
import { formatTime, shortId } from '../components/format.ts'
import { ErrorBox, NeedsScope, Page, Spinner } from '../components/page.tsx'
import { toVisible, VisibleText } from '../components/visible-text.tsx'
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
  const id = useId()
  const agents = useAgents()
  const all = [...(agents?.values() ?? [])].filter(({ archivedAt }) => archivedAt === null)
  const isKnown = all.some(({ slug }) => slug === form.agent)
  return (
    <>
      <div class="trial-field">
        <label for={`${id}-agent`}>Agent</label>
        <select
          id={`${id}-agent`}
          required
          value={form.agent}
          onChange={({ currentTarget }) => set({ agent: currentTarget.value, version: '', live: [] })}
        >
          <option value="">{agents ? 'Choose an agent' : 'Loading agents…'}</option>
          {!isKnown && form.agent !== '' && <option value={form.agent}>{toVisible(form.agent)}</option>}
          {all.map(({ slug, title }) => (
            <option key={slug} value={slug}>
              {toVisible(title)}
            </option>
          ))}
        </select>
      </div>
      {form.agent !== '' && <OfAgent key={form.agent} form={form} set={set} />}
    </>
  )
}

type Loaded = { agent: AgentRecord; versions: VersionRecord[] }

/** The rest of the form, which depends on the versions of the agent. */
function OfAgent({ form, set }: FormProps) {
  const path = `/v1/agents/${encodeURIComponent(form.agent)}`
  const { data, error, reload } = useResource<Loaded>('agent', async (signal) => {
    const [agent, versions] = await Promise.all([
      requestJson<AgentRecord>(path, { signal }),
      requestJson<VersionRecord[]>(`${path}/versions`, { query: { limit: 100 }, signal }),
    ])
    return { agent, versions }
  })
  if (error && !data) return <ErrorBox error={error} onRetry={reload} />
  if (!data) return <Spinner label="Loading the versions of the agent…" />
  const { agent, versions } = data
  const usable = versions.filter(({ retiredAt }) => retiredAt === null)
  const version = form.version || (agent.draftVersionId ?? usable[0]?.id ?? '')
  if (version === '')
    return <p class="empty">The agent has no version to try. Publish a draft of it, then come back.</p>
  const isListed = usable.some((each) => each.id === version)
  return (
    <>
      <Field class="trial-field" label="Version that is tried">
        {(attributes) => (
          <select
            {...attributes}
            value={version}
            onChange={({ currentTarget }) => set({ version: currentTarget.value, live: [] })}
          >
            {!isListed && <option value={version}>{shortId(version)}</option>}
            {usable.map((each) => (
              <option key={each.id} value={each.id}>
                {toVisible(describeVersion(each, agent))}
              </option>
            ))}
          </select>
        )}
      </Field>
      <OfVersion key={version} agent={agent} versionId={version} form={form} set={set} />
    </>
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

  if (version.error && !version.data) return <ErrorBox error={version.error} onRetry={version.reload} />
  if (!version.data) return <Spinner label="Loading the version…" />
  return (
    <form class="stack" onSubmit={submit}>
      <Originals form={form} set={set} />
      <Sources version={version.data} form={form} set={set} />
      {error && <ErrorBox error={withLabels(error, LABELS)} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={isRunning}>
          {isRunning ? 'Starting…' : 'Start trial'}
        </button>
      </div>
    </form>
  )
}

function Originals({ form, set }: FormProps) {
  return (
    <Card title="Runs that are repeated" class="stack">
      <div class="trial-fields">
        <NumberField
          label={LABELS.limit}
          help="The newest ones."
          value={form.limit}
          range={{ ...TRIAL_RUNS, step: 1 }}
          isRequired
          onInput={(limit) => set({ limit })}
        />
        <Field label={LABELS.from}>
          {(attributes) => (
            <input
              {...attributes}
              type="datetime-local"
              max={form.to}
              value={form.from}
              onChange={({ currentTarget }) => set({ from: currentTarget.value })}
            />
          )}
        </Field>
        <Field label={LABELS.to}>
          {(attributes) => (
            <input
              {...attributes}
              type="datetime-local"
              min={form.from}
              value={form.to}
              onChange={({ currentTarget }) => set({ to: currentTarget.value })}
            />
          )}
        </Field>
        <Field label={LABELS.tenantId}>
          {(attributes) => (
            <input
              {...attributes}
              maxLength={MAX_TENANT_ID}
              autocomplete="off"
              spellcheck={false}
              placeholder="All"
              value={form.tenantId}
              onInput={({ currentTarget }) => set({ tenantId: currentTarget.value })}
            />
          )}
        </Field>
        <Field label={LABELS.feedback}>
          {(attributes) => (
            <select
              {...attributes}
              value={form.feedback}
              onChange={({ currentTarget }) =>
                set({ feedback: currentTarget.value as TrialForm['feedback'] })
              }
            >
              <option value="">With and without</option>
              <option value="corrected">Only corrected runs</option>
              <option value="rated">Only rated runs</option>
            </select>
          )}
        </Field>
      </div>
      <p class="muted">
        Cancelled runs, copies of cached results, and runs of drafts, agents and trials are left out.
      </p>
    </Card>
  )
}

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
          chosen={form.models}
          onChoose={(models) => set({ models })}
        />
      )}
      {tools.length > 0 && (
        <fieldset class="choices">
          <legend>Tools that are called</legend>
          {tools.map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={form.live.includes(name)}
                onChange={({ currentTarget }) =>
                  set({
                    live: currentTarget.checked
                      ? [...form.live, name]
                      : form.live.filter((each) => each !== name),
                  })
                }
              />
              <VisibleText text={name} />
            </label>
          ))}
        </fieldset>
      )}
      <p class="muted">
        {version.toolNames.length === 0
          ? 'The version has no tools.'
          : tools.length === 0
            ? 'All tools give what they gave to the original: only tools that the document marks as read-only can be called.'
            : 'All others give what they gave to the original'}
        {tools.length > 0 && others.length > 0 && (
          <>
            : <VisibleText text={others.join(', ')} />
          </>
        )}
        {tools.length > 0 && '. Only tools that the document marks as read-only can be called.'}
      </p>
      <NumberField
        class="trial-field"
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
        onInput={(maxCost) => set({ maxCost })}
      />
      <Field
        class="trial-field"
        label={`${LABELS.ignore}, optional`}
        help="Parts of outputs and of what tools are asked, as JSON Pointers, one per line: times, for example."
      >
        {(attributes) => (
          <textarea
            {...attributes}
            rows={2}
            spellcheck={false}
            placeholder="/createdAt"
            value={form.ignore}
            onInput={({ currentTarget }) => set({ ignore: currentTarget.value })}
          />
        )}
      </Field>
    </Card>
  )
}
