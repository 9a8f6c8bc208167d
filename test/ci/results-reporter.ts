import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { recordFile, recordResult } from './results.ts'

/** Records each test when it has ended: a run that dies leaves the results so far. Skipped tests are not counted. */
export default class ResultsReporter implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const { state } = test.result()
    if (state === 'passed' || state === 'failed')
      recordResult(state, `${test.module.relativeModuleId} ${test.id} ${test.fullName}`)
  }

  /** A file or a hook can fail without a test that does. */
  onTestModuleEnd(module: TestModule): void {
    const { collectDuration, duration } = module.diagnostic()
    recordFile(module.relativeModuleId, (collectDuration + duration) / 1000)
    if (module.state() !== 'failed') return
    const hasFailedTest = [...module.children.allTests('failed')].length > 0
    if (!hasFailedTest) recordResult('failed', module.relativeModuleId)
  }

  onTestRunEnd(_modules: unknown, unhandledErrors: readonly unknown[]): void {
    if (unhandledErrors.length > 0)
      recordResult('failed', `unhandled errors ${process.argv.slice(2).join(' ')}`)
  }
}
