import type { Page } from 'playwright-core'

/** What the main thread of a page did, in milliseconds. */
export type Work = { scriptMs: number; longestTaskMs: number }

/** A complete event of Chromium's trace. Times in microseconds; `tdur` is processor time. */
type TraceEvent = {
  name: string
  ph: string
  pid: number
  tid: number
  ts: number
  dur?: number
  tdur?: number
  args?: { name?: string }
}

const CATEGORIES = ['__metadata', 'devtools.timeline', 'disabled-by-default-devtools.timeline', 'v8.execute']
const TASK = 'RunTask'
/** Events within which scripts are compiled or run, and what the scripts force: style, layout, garbage collection. */
const SCRIPT = new Set([
  ...['v8.compile', 'v8.compileModule', 'v8.evaluateModule', 'EvaluateScript'],
  ...['FunctionCall', 'RunMicrotasks'],
])

/**
 * Measures processor time, not elapsed time: other programs of a busy machine make a task wait, but not work.
 * @param act what the page does meanwhile
 * @throws Error if the browser does not measure processor time
 */
export async function traceWork(page: Page, act: () => Promise<unknown>): Promise<Work> {
  const session = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value as unknown as TraceEvent[])
      if (event.name === TASK || event.name === 'thread_name' || SCRIPT.has(event.name)) events.push(event)
  })
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: CATEGORIES },
  })
  await act()
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve))
  await session.send('Tracing.end')
  await complete
  await session.detach()
  return toWork(events)
}

function toWork(events: TraceEvent[]): Work {
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`
  const isMain = ({ name, args }: TraceEvent) => name === 'thread_name' && args?.name === 'CrRendererMain'
  const threads = new Set(events.filter(isMain).map(threadOf))
  const measured = events.filter((event) => event.tdur !== undefined && threads.has(threadOf(event)))
  const tasks = measured.filter(({ name }) => name === TASK)
  if (tasks.length === 0) throw new Error('The trace has no tasks with processor time.')
  // A page that is opened can get a process of its own: the one that runs its scripts is meant.
  const scripts = [...threads].map((thread) =>
    sumOutermost(measured.filter((event) => SCRIPT.has(event.name) && threadOf(event) === thread)),
  )
  return {
    scriptMs: toMs(Math.max(...scripts)),
    longestTaskMs: toMs(Math.max(...tasks.map(({ tdur = 0 }) => tdur))),
  }
}

/** Events of one thread contain each other, or have no time in common. */
function sumOutermost(events: TraceEvent[]): number {
  let end = 0
  let sum = 0
  for (const { ts, dur = 0, tdur = 0 } of events.toSorted(
    (a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0),
  )) {
    if (ts < end) continue
    end = ts + dur
    sum += tdur
  }
  return sum
}

const toMs = (microseconds: number) => Math.round(microseconds / 1000)
