import './try.css'
import { useMemo, useRef, useState } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { findVersion } from '../api/agents.ts'
import { nullIf } from '../api/api-error.ts'
import { requestJson, requestPage } from '../api/request.ts'
import { pathOfRun } from '../api/runs.ts'
import { useResource } from '../api/use-resource.ts'
import { AgentPath, Loaded } from '../components/detail-page.tsx'
import { Page } from '../components/page.tsx'
import { RunLink } from '../components/values.tsx'
import { initialText } from '../schema/form/field.ts'
import { isEditable } from '../schema/use-large-input.ts'
import { personOf, useMe } from '../state/session.ts'
import { CodeSamples } from './code-samples.tsx'
import { applicableOptions, NO_OPTIONS, optionsOfRun, type RunOptions, toParameters } from './run-options.ts'
import { SavedInputsCard } from './saved-inputs-card.tsx'
import { TryForm, toServerIssues, toServerOptionProblems } from './try-form.tsx'
import { TryResult } from './try-result.tsx'
import { type Typed, useTypedInput } from './typed-inputs.ts'
import { useTry } from './use-try.ts'

type Data = {
  agent: AgentRecord
  versions: VersionRecord[]
  /** Null if it has been deleted, too. */
  from: ExecutionRecord | null
  /** Whose input this is. Null if the service does not say. */
  me: MeRecord | null
}

/** `agent`: ID or slug. */
type Props = { agent: string; query: URLSearchParams }

/** Another input begins afresh. */
export const TryPage = (props: Props) => <TryWith key={`${props.query}`} {...props} />

/** Runs an agent with an input that is typed here. */
function TryWith({ agent: idOrSlug, query }: Props) {
  /** An execution whose input is where to begin, or JSON text to begin with. */
  const [from, input] = [query.get('from'), query.get('input')]
  const me = useMe()
  const loaded = useResource(`${idOrSlug} ${from}`, (signal) => load(idOrSlug, from, me, signal))
  const agent = loaded.data?.agent
  return (
    <Page
      title={agent ? `Try ${agent.title}` : 'Try it'}
      parent={<AgentPath agent={agent?.slug ?? idOrSlug} />}
    >
      <Loaded of={loaded} label="Loading the agent…">
        {(data) => <TryAgent {...data} fromId={from} given={input} />}
      </Loaded>
    </Page>
  )
}

async function load(
  idOrSlug: string,
  from: string | null,
  known: MeRecord | null,
  signal: AbortSignal,
): Promise<Data> {
  const path = `/v1/agents/${encodeURIComponent(idOrSlug)}`
  const [agent, page, run, me] = await Promise.all([
    requestJson<AgentRecord>(path, { signal }),
    requestPage<VersionRecord>(`${path}/versions`, { query: { limit: 100 }, signal }),
    from === null
      ? null
      : requestJson<ExecutionRecord>(pathOfRun(from), { query: { requestedOptions: true }, signal }).catch(
          nullIf(404),
        ),
    known ?? requestJson<MeRecord>('/v1/me', { signal }).catch(() => null),
  ])
  const { items } = page
  const isListed = run === null || items.some(({ id }) => id === run.versionId)
  const older = isListed ? null : await findVersion(agent.id, run.versionId, signal)
  return { agent, versions: older ? [...items, older] : items, from: run, me }
}

type AgentProps = Data & { fromId: string | null; given: string | null }

function TryAgent({ agent, versions, from, fromId, given, me }: AgentProps) {
  const versionOf = ({ version }: RunOptions) =>
    versions.find(({ id }) => id === (version || agent.currentVersionId))
  const schemaOf = (options: RunOptions) =>
    (versionOf(options)?.inputSchema ?? agent.inputSchema) as JsonObject
  const owner = useMemo(() => me && { ...me, personId: personOf(me), agentId: agent.id }, [])
  const initial = useMemo((): Typed => {
    const options = initialOptions(agent, versions, from)
    return { options, text: from === null && given !== null ? given : textOf(schemaOf(options), from) }
  }, [])
  const input = useTypedInput({
    owner,
    from: fromId ?? given,
    initial,
    schemaOf,
    restore: ({ text, options }) => ({
      text,
      options: { ...options, version: versionOf(options) ? options.version : '' },
    }),
  })
  const { text, options } = input.typed
  const version = versionOf(options)
  const inputSchema = schemaOf(options)
  const sendable = applicableOptions(options, version)
  const { last, start, cancel } = useTry()
  /** What the last run was sent with: what the service says about it does not concern what is typed since. */
  const [sent, setSent] = useState<Typed | null>(null)
  const form = useRef<HTMLDivElement>(null)
  const lastFocused = useRef<HTMLElement | null>(null)

  function run() {
    const focused = document.activeElement
    lastFocused.current =
      focused instanceof HTMLElement && form.current?.contains(focused) ? focused : lastFocused.current
    setSent({ text, options })
    start({ agent: agent.slug, parameters: toParameters(sendable), body: text })
  }

  function focusForm() {
    const first = form.current?.querySelector<HTMLElement>('.schema-editor :is(input, select, textarea)')
    const target = lastFocused.current?.isConnected ? lastFocused.current : first
    target?.focus()
    target?.scrollIntoView({ block: 'nearest' })
  }

  return (
    <div class="stack try">
      <div class="stack" ref={form}>
        {fromId !== null &&
          (from ? (
            <p class="muted">
              The form begins with the input and the options of the run <RunLink executionId={from.id} />.
            </p>
          ) : (
            <p class="muted">The run that the form was to begin with has been deleted.</p>
          ))}
        <TryForm
          {...{ agent, versions, version, inputSchema, input }}
          isRunning={last?.isRunning ?? false}
          serverIssues={sent?.text === text ? toServerIssues(last?.error ?? null, text) : []}
          serverProblems={sent?.options === options ? toServerOptionProblems(last?.error ?? null) : {}}
          onRun={run}
        >
          {owner && <SavedInputsCard owner={owner} text={text} schema={inputSchema} onLoad={input.load} />}
        </TryForm>
      </div>
      <div class="try-result">
        {last && sent ? (
          <TryResult
            key={last.startedAt}
            last={last}
            input={sent.text}
            outputSchema={(version?.outputSchema ?? agent.outputSchema) as JsonObject}
            onCancel={cancel}
            onRetry={run}
            onEdit={focusForm}
          />
        ) : (
          <p class="empty">The result appears here.</p>
        )}
      </div>
      <CodeSamples agent={agent.slug} parameters={toParameters(sendable)} text={text} />
    </div>
  )
}

/** A run is repeated as it was. Without one, the current version runs, or the draft of an agent that has no other. */
function initialOptions(
  agent: AgentRecord,
  versions: VersionRecord[],
  from: ExecutionRecord | null,
): RunOptions {
  if (from) {
    const version = versions.find(({ id }) => id === from.versionId)
    return optionsOfRun(from, version, agent.currentVersionId)
  }
  return { ...NO_OPTIONS, version: agent.currentVersionId === null ? (agent.draftVersionId ?? '') : '' }
}

function textOf(inputSchema: JsonObject, from: ExecutionRecord | null): string {
  if (!from) return initialText(inputSchema)
  const compact = JSON.stringify(from.input)
  return isEditable(compact) ? JSON.stringify(from.input, null, 2) : compact
}
