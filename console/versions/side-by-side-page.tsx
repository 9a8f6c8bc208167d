import '../compare/compare.css'
import '../try/try.css'
import { useState } from 'preact/hooks'
import type { AgentRecord, VersionDetails } from '../../lib/contract/records/agent.ts'
import type { ComparisonRecord } from '../../lib/contract/records/comparison.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { getVersion, loadVersion, nameOfVersion } from '../api/agents.ts'
import { useRecord, useResource } from '../api/use-resource.ts'
import { DifferenceList } from '../compare/difference-list.tsx'
import { Button } from '../components/button.tsx'
import { AgentPath, Loaded } from '../components/detail-page.tsx'
import { CheckField } from '../components/field.tsx'
import { formatCost } from '../components/format.ts'
import { JsonView } from '../components/json-view.tsx'
import { Card, ErrorBox, Facts, Page } from '../components/page.tsx'
import { Restored, useTypedForm } from '../components/typed-form.tsx'
import { Elapsed, RunLink, StatusBadge, VersionLink } from '../components/values.tsx'
import { Text } from '../components/visible-text.tsx'
import { initialText } from '../schema/form/field.ts'
import { toHref, toPath } from '../state/location.ts'
import { InputForm } from '../try/input-form.tsx'
import { stripFiles } from '../try/strip-files.ts'
import { type Try, useTry } from '../try/use-try.ts'

type Data = { agent: AgentRecord; version: VersionDetails; current: VersionDetails | null }

export function SideBySidePage({ agent: idOrSlug, versionId }: { agent: string; versionId: string }) {
  const loaded = useResource(`${idOrSlug} ${versionId}`, async (signal): Promise<Data> => {
    const { agent, version } = await loadVersion(idOrSlug, versionId, signal)
    const { id, currentVersionId } = agent
    const current = currentVersionId === null ? null : await getVersion(id, currentVersionId, signal)
    return { agent, version, current }
  })
  const { slug = idOrSlug, title } = loaded.data?.agent ?? {}
  return (
    <Page
      title={`Try version ${nameOfVersion(loaded.data?.version ?? { id: versionId })}`}
      parent={
        <>
          <AgentPath agent={slug} title={title} /> › <VersionLink agent={slug} versionId={versionId} />
        </>
      }
    >
      <Loaded of={loaded} label="Loading both versions…">
        {({ agent, version, current }) =>
          current && current.id !== version.id ? (
            <SideBySide agent={agent} version={version} current={current} />
          ) : (
            <p class="empty">
              {current
                ? 'This version has become current: there is nothing to compare it with.'
                : 'The agent has no current version to compare with.'}{' '}
              <a href={toHref(toPath('agents', slug, 'try'))}>Try it</a>
            </p>
          )
        }
      </Loaded>
    </Page>
  )
}

type Props = { agent: AgentRecord; version: VersionDetails; current: VersionDetails }

function SideBySide({ agent, version, current }: Props) {
  const schema = version.inputSchema as JsonObject
  const typed = useTypedForm(
    `side by side ${agent.id} ${version.id}`,
    () => ({ text: initialText(schema), isAlone: false, hadFiles: false }),
    (form) => {
      const storable = stripFiles(form.text, schema)
      return storable && { ...form, ...storable }
    },
  )
  const { text, isAlone } = typed.form
  const [left, right] = [useTry(), useTry()]
  /** How the last runs were started. */
  const [sentAlone, setSentAlone] = useState(false)
  const isRunning = (left.last?.isRunning ?? false) || (right.last?.isRunning ?? false)

  function run() {
    // From the cache, one side would show what it did another time.
    const parametersOf = ({ id }: VersionDetails) => ({ version: id, useCache: false })
    setSentAlone(isAlone)
    typed.forget()
    if (!isAlone) left.start({ agent: agent.slug, parameters: parametersOf(current), body: text })
    right.start({ agent: agent.slug, parameters: parametersOf(version), body: text })
  }

  const [a, b] = [left.last?.run, right.last?.run]
  return (
    <div class="stack">
      <InputForm
        {...{ schema, text, isRunning }}
        mode="adapting"
        label={isAlone ? 'Run' : 'Run both'}
        notice={
          <Restored typed={typed} onReset={typed.reset}>
            {typed.form.hadFiles && 'Files are not kept: choose them again.'}
          </Restored>
        }
        help={
          isAlone
            ? 'The run calls its tools, and costs what a run costs.'
            : 'Two runs start: both call their tools, and both cost what a run costs.'
        }
        onText={(changed) => typed.set({ text: changed })}
        onRun={run}
      >
        <CheckField
          label="Run the current version too, and compare"
          value={!isAlone}
          onChange={(isBoth) => typed.set({ isAlone: !isBoth })}
        />
      </InputForm>
      <div class="grid">
        {!isAlone && (
          <Result
            title="A: current version"
            agent={agent}
            version={current}
            last={sentAlone ? null : left.last}
            onCancel={left.cancel}
          />
        )}
        <Result
          title={isAlone ? 'Result' : 'B: this version'}
          {...{ agent, version }}
          last={right.last}
          onCancel={right.cancel}
        />
      </div>
      {a && b && !sentAlone && !isRunning && <Differences key={`${a.id} ${b.id}`} a={a.id} b={b.id} />}
    </div>
  )
}

type ResultProps = {
  title: string
  agent: AgentRecord
  version: VersionDetails
  last: Try | null
  onCancel: () => void
}

function Result({ title, agent, version, last, onCancel }: ResultProps) {
  const run = last?.run ?? null
  return (
    <Card title={title} class="stack">
      <Facts
        facts={{
          Version: <VersionLink agent={agent.slug} versionId={version.id} />,
          Status: (last?.isRunning || run) && (
            <StatusBadge status={run?.status ?? 'IN_PROGRESS'} code={run?.error?.code} />
          ),
          Run: last?.executionId != null && <RunLink executionId={last.executionId} />,
          Duration: last?.isRunning && <Elapsed since={new Date(last.startedAt).toISOString()} />,
          Cost: run?.totalCostUsd != null && formatCost(run.totalCostUsd),
        }}
      />
      {last?.isRunning && (
        <div class="actions">
          <Button label="Cancel this run" class="danger" disabled={last.isCancelling} onClick={onCancel} />
        </div>
      )}
      {last?.error && <ErrorBox error={last.error} />}
      {run?.error && <Text class="field-error" text={run.error.message} />}
      {run?.output && <JsonView value={run.output} label={`the output of ${title.toLowerCase()}`} />}
      {!last && <p class="empty">Its output appears here.</p>}
    </Card>
  )
}

/** What the service finds to be different: numbers and white space have some tolerance. */
function Differences({ a, b }: { a: string; b: string }) {
  const comparison = useRecord<ComparisonRecord>(`/v1/agent_executions/${a}/compare/${b}`)
  return (
    <Card title="What differs in the result">
      <Loaded of={comparison} label="Comparing the results…">
        {({ differences, isCut }) => (
          <>
            <DifferenceList {...{ differences, isCut }} same="The results are the same." />
            <p>
              <a href={toHref('/compare', { a, b })}>Compare the steps, too</a>
            </p>
          </>
        )}
      </Loaded>
    </Card>
  )
}
