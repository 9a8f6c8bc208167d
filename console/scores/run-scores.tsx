import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import { formatScore } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { Card } from '../components/page.tsx'
import { RunLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'

export const RunScores = ({ scores }: Pick<ExecutionRecord, 'scores'>) =>
  scores && (
    <Card title="Scores">
      <ItemTable
        caption="Scores"
        items={scores}
        keyOf={({ agent }) => agent}
        columns={{
          Scorer: { header: ({ agent }) => <VisibleText text={agent} /> },
          Score: { numeric: ({ score }) => (score === null ? 'none' : formatScore(score)) },
          Reason: { text: ({ reason, error }) => error?.message ?? reason },
          'Its run': ({ executionId }) => executionId && <RunLink executionId={executionId} />,
        }}
      />
    </Card>
  )
