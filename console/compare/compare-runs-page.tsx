import './compare.css'
import type { ComparisonRecord } from '../../lib/contract/records/comparison.ts'
import { useRecord } from '../api/use-resource.ts'
import { Button } from '../components/button.tsx'
import { Loaded } from '../components/detail-page.tsx'
import { Card, Page } from '../components/page.tsx'
import { TextLink } from '../components/visible-text.tsx'
import { toHref } from '../state/location.ts'
import { ChooseRuns } from './choose-runs.tsx'
import { ComparedSteps } from './compared-steps.tsx'
import { type Differences, parseRunId } from './comparison.ts'
import { DifferenceList, SideHeads } from './difference-list.tsx'
import { RunTable, versionsHref } from './run-table.tsx'

/** @param query `a` and `b`: IDs of the runs; `agent` and `original`: what is suggested to compare run A with */
export function CompareRunsPage({ query }: { query: URLSearchParams }) {
  const [a, b] = [parseRunId(query.get('a') ?? ''), parseRunId(query.get('b') ?? '')]
  if (a !== null && b !== null) return <CompareRuns key={`${a} ${b}`} a={a} b={b} />
  return (
    <Page title="Compare runs" parent={<a href="#/runs">Runs</a>}>
      <ChooseRuns
        key={query.toString()}
        a={query.get('a') ?? ''}
        b={query.get('b') ?? ''}
        agent={query.get('agent')}
        original={parseRunId(query.get('original') ?? '')}
      />
    </Page>
  )
}

function CompareRuns({ a, b }: { a: string; b: string }) {
  const comparison = useRecord<ComparisonRecord>(`/v1/agent_executions/${a}/compare/${b}`)
  const agent = comparison.data?.left.documentId
  return (
    <Page
      title="Compare runs"
      parent={<a href="#/runs">Runs</a>}
      actions={
        <>
          <TextLink class="button" href={toHref('/compare', { a: b, b: a })} text="Swap" />
          <TextLink
            class="button"
            href={toHref('/compare', { a, agent })}
            text="Compare A with another run…"
          />
        </>
      }
    >
      <Loaded of={comparison} label="Comparing the runs…">
        {(data) => (
          <Comparison comparison={data} isLoading={comparison.isLoading} onReload={comparison.reload} />
        )}
      </Loaded>
    </Page>
  )
}

type Props = { comparison: ComparisonRecord; isLoading: boolean; onReload: () => void }

function Comparison({ comparison, isLoading, onReload }: Props) {
  const { left, right, request, differences, isCut, steps, hasMoreSteps } = comparison
  const isOpen = [left, right].some(({ status }) => status === 'IN_PROGRESS')
  const versions = versionsHref(left, right)
  return (
    <div class="stack">
      {left.id === right.id && <p class="empty">A and B are the same run.</p>}
      {isOpen && (
        <div class="card toolbar">
          <p>A run in progress is compared as it was when this page was loaded.</p>
          <Button label="Compare again" disabled={isLoading} onClick={onReload} />
        </div>
      )}
      <Card title="Runs">
        <RunTable left={left} right={right} />
        {versions && (
          <p>
            <a href={versions}>Compare the two versions</a>
          </p>
        )}
      </Card>
      <Section title="Input and options" same="Inputs and options are the same." {...request} />
      <Section title="Result" same="The results are the same." differences={differences} isCut={isCut} />
      <Card title="Steps">
        <ComparedSteps left={left} right={right} steps={steps} hasMoreSteps={hasMoreSteps} />
      </Card>
    </div>
  )
}

const Section = ({ title, same, ...found }: Differences & { title: string; same: string }) => (
  <Card title={title}>
    {found.differences.length > 0 && <SideHeads />}
    <DifferenceList {...found} same={same} />
  </Card>
)
