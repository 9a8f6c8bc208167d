import { shortId } from '../../format/numbers.ts'
import { toHref, toPath } from '../../state/location.ts'

/** A link to an execution, by the short form of its ID. */
export function RunLink({ executionId }: { executionId: string }) {
  return (
    <a class="mono" href={toHref(toPath('runs', executionId))} title={executionId}>
      {shortId(executionId)}
    </a>
  )
}
