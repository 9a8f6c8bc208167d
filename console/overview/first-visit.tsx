import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { ExecutionStateRecord } from '../../lib/contract/records/execution.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { getVersion } from '../api/agents.ts'
import { post, requestPage, toUrl } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { CopyButton } from '../components/button.tsx'
import { Loaded } from '../components/detail-page.tsx'
import { SelectField } from '../components/field.tsx'
import { ActionForm } from '../components/form-dialog.tsx'
import { Card } from '../components/page.tsx'
import { useForm } from '../components/typed-form.tsx'
import { Text } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { TOKEN_VARIABLE, toCurl } from '../try/samples.ts'
import { sampleInput } from './sample-input.ts'

/** An agent that can be run, with an input as JSON text. */
type Sample = { agent: AgentRecord; input: string | null }

export function FirstVisit() {
  // Agents are published elsewhere.
  const samples = useResource('samples', loadSamples, {
    everyMs: (samples) => (samples?.length === 0 ? 3_000 : null),
  })
  return (
    <Loaded of={samples} label="Loading agents…">
      {(samples) => (samples.length > 0 ? <RunCard samples={samples} /> : <CreateCard />)}
    </Loaded>
  )
}

/** Of how many agents it is read whether they need a model. */
const MAX_READ = 6

/** Code agents first: they need no model, and cost nothing. */
async function loadSamples(signal: AbortSignal): Promise<Sample[]> {
  const { items } = await requestPage<AgentRecord>('/v1/agents', { query: { limit: 50 }, signal })
  const samples = items
    .filter(({ currentVersionId, archivedAt }) => currentVersionId !== null && archivedAt === null)
    .map((agent) => ({ agent, input: printSample(agent) }))
    .sort((a, b) => Number(a.input === null) - Number(b.input === null))
  const isCode = await Promise.all(
    samples.slice(0, MAX_READ).map(({ agent }) =>
      getVersion(agent.id, agent.currentVersionId ?? '', signal).then(
        ({ code }) => code,
        () => false,
      ),
    ),
  )
  const rank = ({ input }: Sample, index: number) => (input === null ? 2 : isCode[index] ? 0 : 1)
  const ranks = new Map(samples.map((sample, index) => [sample, rank(sample, index)]))
  return samples.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0))
}

function printSample({ inputSchema }: AgentRecord): string | null {
  const input = sampleInput(inputSchema as JsonObject)
  return input && JSON.stringify(input, null, 2)
}

function RunCard({ samples }: { samples: Sample[] }) {
  const mayRun = useScope('run')
  const textOf = (slug: string) => samples.find(({ agent }) => agent.slug === slug)?.input ?? '{}'
  const [first = ''] = samples.map(({ agent }) => agent.slug)
  const form = useForm(() => ({ slug: first, text: textOf(first) }))
  const { slug, text } = form.form
  const curl = toCurl({
    baseUrl: window.location.origin + toUrl(''),
    agent: slug,
    parameters: {},
    input: text,
  })
  async function send() {
    const path = `/v1/agents/${encodeURIComponent(slug)}/executions`
    const { id } = await post<ExecutionStateRecord>(path, { query: { execMode: 'async' }, body: text })
    navigate(toHref(toPath('runs', id)))
  }
  return (
    <div class="grid">
      <Card title="Run your first agent">
        <p>There are no runs yet. Choose an agent and start one with this input, or with your own.</p>
        <ActionForm
          class="form"
          submit="Run"
          isReady={mayRun}
          send={send}
          before={<a href={toHref(toPath('agents', slug, 'try'), { input: text })}>Fill in a form instead</a>}
        >
          <SelectField
            label="Agent"
            value={slug}
            choices={samples.map(({ agent }) => [agent.slug, agent.title])}
            onChange={(chosen) => form.set({ slug: chosen, text: textOf(chosen) })}
          />
          {form.fields({ text: { label: 'Input (JSON)', isLong: true, isMono: true, rows: 6 } })}
          {!mayRun && (
            <p class="muted">
              This token may not run agents: that takes one with the scope <code>run</code>.
            </p>
          )}
        </ActionForm>
      </Card>
      <Card title="Or from your terminal">
        <p>
          Set <code>{TOKEN_VARIABLE}</code> to an API token.
        </p>
        <Command text={curl} />
      </Card>
    </div>
  )
}

function CreateCard() {
  const mayManage = useScope('manage')
  const baseUrl = window.location.origin + toUrl('')
  const commands = [
    'npx agent-execution init count-words',
    `npx agent-execution publish agents/count-words --url ${baseUrl}`,
  ].join('\n')
  return (
    <Card title="Create your first agent">
      <p>
        There are no agents yet. In a checkout of the service, these commands create one and publish it. Set{' '}
        <code>AGENTS_TOKEN</code> to an API token with the scope <code>manage</code>
        {mayManage ? '' : ', which yours does not have'}. This page continues when the agent is there.
      </p>
      <Command text={commands} />
      <p>
        <a href="console/docs-authoring.html">Developing an agent</a>
      </p>
    </Card>
  )
}

const Command = ({ text }: { text: string }) => (
  <div class="stack">
    <Text as="pre" class="box" text={text} />
    <div>
      <CopyButton text={text} subject="the command" />
    </div>
  </div>
)
