import { useMemo } from 'preact/hooks'
import type { AgentRecord, VersionDetails, VersionRecord } from '../../lib/contract/records/agent.ts'
import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import { MAX_COST_USD } from '../../lib/core/limits.ts'
import { getVersion, useAgents } from '../api/agents.ts'
import { newIdempotencyKey, post, requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { announce } from '../components/button.tsx'
import { Loaded } from '../components/detail-page.tsx'
import { SelectField } from '../components/field.tsx'
import { type Form as FormOf, labelsOf, toForm } from '../components/fields.tsx'
import { ActionForm } from '../components/form-dialog.tsx'
import { shortId } from '../components/format.ts'
import { Card, NeedsScope, Page } from '../components/page.tsx'
import { say, VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { describeVersion } from '../versions/version-state.tsx'
import {
  FIELDS,
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
  const of = toForm(form, (change) =>
    navigate(toHref('/trials/new', toFormQuery({ ...form, ...change })), { replace: true }),
  )
  return (
    <Page title="Start a trial" parent={<a href={toHref('/trials', { agent: form.agent })}>Trials</a>}>
      <NeedsScope scope="manage">
        <div class="stack">
          <p class="muted">
            Runs that have ended are repeated on a version, with their inputs and what their tools returned.
            What would need anything else ends as diverged: nothing happens outside. The trial can be
            cancelled at any time.
          </p>
          <Form of={of} />
        </div>
      </NeedsScope>
    </Page>
  )
}

type FormProps = { of: FormOf<TrialForm> }

function Form({ of }: FormProps) {
  const { form, set } = of
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
      {form.agent !== '' && <OfAgent key={form.agent} of={of} />}
    </>
  )
}

function OfAgent({ of }: FormProps) {
  const { form, set } = of
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
                ...versions.map((each) => [each.id, withMessage(each, agent)] as const),
              ]}
            />
            <OfVersion key={version} agent={agent} versionId={version} of={of} />
          </>
        )
      }}
    </Loaded>
  )
}

const withMessage = (version: VersionRecord, { currentVersionId }: AgentRecord): string =>
  [describeVersion(version, currentVersionId), version.message?.slice(0, 60)].filter(Boolean).join(' ')

type OfVersionProps = FormProps & { agent: AgentRecord; versionId: string }

function OfVersion({ agent, versionId, of }: OfVersionProps) {
  const version = useResource('version', (signal) => getVersion(agent.id, versionId, signal))
  const json = version.data && toTrialBody(of.form, liveTools(version.data))
  // The same key for the same trial: sent twice, it starts once.
  const key = useMemo(newIdempotencyKey, [JSON.stringify(json)])
  async function send() {
    const path = `/v1/agents/${agent.id}/versions/${encodeURIComponent(versionId)}/trials`
    const { id } = await post<Pick<TrialRecord, 'id'>>(path, { json, headers: { 'Idempotency-Key': key } })
    announce('The trial is started.')
    navigate(toHref(toPath('trials', id)))
  }
  return (
    <Loaded of={version} label="Loading the version…">
      {(data) => (
        <ActionForm submit="Start trial" busy="Starting…" labels={labelsOf(FIELDS)} send={send}>
          <Originals of={of} />
          <Sources version={data} of={of} />
        </ActionForm>
      )}
    </Loaded>
  )
}

const Originals = ({ of }: FormProps) => (
  <Card title="Runs that are repeated" class="stack">
    {of.row({
      limit: FIELDS.limit,
      from: { ...FIELDS.from, max: of.form.to },
      to: { ...FIELDS.to, min: of.form.from },
      tenantId: FIELDS.tenantId,
      feedback: FIELDS.feedback,
    })}
    <p class="muted">
      Cancelled runs, copies of cached results, and runs of drafts, agents and trials are left out.
    </p>
  </Card>
)

function Sources({ version, of }: FormProps & { version: VersionDetails }) {
  const tools = liveTools(version)
  const others = version.toolNames.filter((name) => !tools.includes(name))
  const isLimited = needsCostLimit(of.form, version)
  return (
    <Card title="What is recorded, and what it may cost" class="stack">
      {of.fields({
        models: !version.code && FIELDS.models,
        live: tools.length > 0 && {
          label: 'Tools that are called',
          checks: tools.map((name) => [name, <VisibleText key={name} text={name} />]),
        },
      })}
      <p class="muted">
        {version.toolNames.length === 0
          ? 'The version has no tools.'
          : tools.length === 0
            ? 'All tools give what they gave to the original: only tools that the document marks as read-only can be called.'
            : 'All others give what they gave to the original'}
        {tools.length > 0 && say`: ${others.join(', ')}`}
        {tools.length > 0 && '. Only tools that the document marks as read-only can be called.'}
      </p>
      {of.fields({
        maxCost: {
          ...{ range: MAX_COST_USD, required: isLimited },
          label: `${FIELDS.maxTrialCostUsd.label} (US dollars)${isLimited ? '' : ', optional'}`,
          help: isLimited
            ? 'Required, because models are called: what all responses of the trial may cost together. It is checked before each request, so that each run in progress can exceed it by one response. Then no further run is started.'
            : version.code
              ? 'What the agents that it calls may cost together.'
              : 'What responses may cost where a request differs. Without it, such runs end there, and no model is called.',
        },
        ignore: { ...FIELDS.ignore, label: `${FIELDS.ignore.label}, optional` },
      })}
    </Card>
  )
}
