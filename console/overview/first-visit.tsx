import { useId, useState } from 'preact/hooks'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { ExecutionStateRecord } from '../../lib/contract/records/execution.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { getVersion } from '../api/agents.ts'
import { requestJson, requestPage, toUrl } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Card } from '../components/data.tsx'
import { Loaded } from '../components/detail-page.tsx'
import { useAction } from '../components/dialog.tsx'
import { ErrorBox } from '../components/page.tsx'
import { Text, toVisible } from '../components/visible-text.tsx'
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
  const id = useId()
  const mayRun = useScope('run')
  const [chosen, setChosen] = useState(0)
  const sample = samples[chosen] ?? samples[0]
  const [text, setText] = useState(sample?.input ?? '{}')
  const slug = sample?.agent.slug ?? ''
  const run = useAction(async () => {
    const path = `/v1/agents/${encodeURIComponent(slug)}/executions`
    const query = { execMode: 'async' }
    const started = await requestJson<ExecutionStateRecord>(path, { method: 'POST', query, body: text })
    navigate(toHref(toPath('runs', started.id)))
  })
  const baseUrl = window.location.origin + toUrl('')
  const curl = toCurl({ baseUrl, agent: slug, parameters: {}, input: text })

  function choose(index: number) {
    setChosen(index)
    setText(samples[index]?.input ?? '{}')
  }

  return (
    <div class="grid">
      <Card title="Run your first agent">
        <p>There are no runs yet. Choose an agent and start one with this input, or with your own.</p>
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault()
            void run.start()
          }}
        >
          <label for={`${id}-agent`}>Agent</label>
          <select
            id={`${id}-agent`}
            value={chosen}
            onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
          >
            {samples.map(({ agent }, index) => (
              <option key={agent.id} value={index}>
                {toVisible(agent.title)}
              </option>
            ))}
          </select>
          <label for={`${id}-input`}>Input (JSON)</label>
          <textarea
            id={`${id}-input`}
            class="mono"
            rows={6}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          {run.error && <ErrorBox error={run.error} />}
          <div class="actions">
            <a href={toHref(toPath('agents', slug, 'try'), { input: text })}>Fill in a form instead</a>
            <button type="submit" class="primary" disabled={!mayRun || run.isRunning}>
              Run
            </button>
          </div>
          {!mayRun && (
            <p class="muted">
              This token may not run agents: that takes one with the scope <code>run</code>.
            </p>
          )}
        </form>
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
