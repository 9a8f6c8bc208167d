import './try.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/api/schemas/agent-record.ts'
import type { ExecutionRecord } from '../../lib/api/schemas/execution-record.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { findVersion } from '../api/agents.ts'
import { requestJson, requestPage } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'
import { RunLink } from '../components/values.tsx'
import { initialValue } from '../schema/form/field.ts'
import { printJson } from '../schema/json-edit.ts'
import { openSchema } from '../schema/schema-view.ts'
import { isEditable } from '../schema/use-large-input.ts'
import { toHref, toPath } from '../state/location.ts'
import { CodeSamples } from './code-samples.tsx'
import { NO_OPTIONS, type RunOptions, toParameters } from './run-options.ts'
import { TryForm, toServerIssues, toServerOptionProblems } from './try-form.tsx'
import { TryResult } from './try-result.tsx'
import { useTry } from './use-try.ts'

type Loaded = { agent: AgentRecord; versions: VersionRecord[]; from: ExecutionRecord | null }

/** Runs an agent with an input that is typed here. @param from an execution whose input is where to begin */
export function TryPage({ agent: idOrSlug, from }: { agent: string; from: string | null }) {
  const loaded = useResource(`${idOrSlug} ${from}`, (signal) => load(idOrSlug, from, signal))
  const { data, error, reload } = loaded
  const agentHref = toHref(toPath('agents', data?.agent.slug ?? idOrSlug))
  return (
    <Page
      title={data ? `Try ${data.agent.title}` : 'Try it'}
      parent={
        <>
          <a href="#/agents">Agents</a> › <a href={agentHref}>{data?.agent.slug ?? idOrSlug}</a>
        </>
      }
    >
      {error && <ErrorBox error={error} onRetry={reload} />}
      {!data && !error && <Spinner label="Loading the agent…" />}
      {data && <TryAgent {...data} />}
    </Page>
  )
}

async function load(idOrSlug: string, from: string | null, signal: AbortSignal): Promise<Loaded> {
  const path = `/v1/agents/${encodeURIComponent(idOrSlug)}`
  const [agent, page, run] = await Promise.all([
    requestJson<AgentRecord>(path, { signal }),
    requestPage<VersionRecord>(`${path}/versions`, { query: { limit: 100 }, signal }),
    from === null
      ? null
      : requestJson<ExecutionRecord>(`/v1/agent_executions/${encodeURIComponent(from)}`, { signal }),
  ])
  const { items } = page
  const isListed = run === null || items.some(({ id }) => id === run.versionId)
  const older = isListed ? null : await findVersion(agent.id, run.versionId, signal)
  return { agent, versions: older ? [...items, older] : items, from: run }
}

function TryAgent({ agent, versions, from }: Loaded) {
  const [options, setOptions] = useState<RunOptions>(() => initialOptions(agent, versions, from))
  const version = versions.find(({ id }) => id === (options.version || agent.currentVersionId))
  const inputSchema = (version?.inputSchema ?? agent.inputSchema) as JsonObject
  const [text, setText] = useState(() => initialText(inputSchema, from))
  const { last, start, cancel } = useTry()
  /** What the last run was sent with: what the service says about it does not concern what is typed since. */
  const [sent, setSent] = useState<{ text: string; options: RunOptions } | null>(null)
  const result = useRef<HTMLDivElement>(null)
  const hasResult = last !== null
  useEffect(() => {
    if (hasResult) result.current?.scrollIntoView({ block: 'nearest' })
  }, [last?.startedAt])

  function run() {
    setSent({ text, options })
    start({ agent: agent.slug, parameters: toParameters(options), body: text })
  }

  return (
    <div class="try">
      <div class="stack">
        {from && (
          <p class="muted">
            The input is that of the run <RunLink executionId={from.id} />.
          </p>
        )}
        <TryForm
          agent={agent}
          versions={versions}
          version={version}
          inputSchema={inputSchema}
          text={text}
          options={options}
          isRunning={last?.isRunning ?? false}
          serverIssues={sent?.text === text ? toServerIssues(last?.error ?? null, text) : []}
          serverProblems={sent?.options === options ? toServerOptionProblems(last?.error ?? null) : {}}
          onText={setText}
          onOptions={setOptions}
          onRun={run}
        />
      </div>
      <div class="try-result" ref={result}>
        {last ? (
          <TryResult
            key={last.startedAt}
            last={last}
            outputSchema={(version?.outputSchema ?? agent.outputSchema) as JsonObject}
            onCancel={cancel}
            onRetry={run}
          />
        ) : (
          <p class="empty">The result appears here.</p>
        )}
      </div>
      <CodeSamples agent={agent.slug} parameters={toParameters(options)} text={text} />
    </div>
  )
}

/** A run is repeated on its version and for its tenant. */
function initialOptions(
  agent: AgentRecord,
  versions: VersionRecord[],
  from: ExecutionRecord | null,
): RunOptions {
  const wanted = from?.versionId ?? agent.currentVersionId ?? agent.draftVersionId ?? ''
  const isCurrent = wanted === agent.currentVersionId
  const exists = versions.some(({ id }) => id === wanted)
  return {
    ...NO_OPTIONS,
    version: exists && !isCurrent ? wanted : '',
    tenantId: from?.tenantId ?? '',
  }
}

function initialText(inputSchema: JsonObject, from: ExecutionRecord | null): string {
  if (from) {
    const compact = JSON.stringify(from.input)
    return isEditable(compact) ? JSON.stringify(from.input, null, 2) : compact
  }
  const view = openSchema(inputSchema)
  const value = initialValue(view.root, view)
  return value ? printJson(value) : '{}'
}
