import { Page } from '../components/page.tsx'

export function RunPage({ executionId }: { executionId: string }) {
  return <Page title={`Run ${executionId}`}>{null}</Page>
}
