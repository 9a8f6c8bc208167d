import { enterUsersFolder } from './enter-users-folder.ts'
import { endOnInterrupt, unlessInterrupted } from './interrupt.ts'
import { write } from './output.ts'
import { createProgram } from './program.ts'
import { report } from './report.ts'

/** Runs the command of this process. Exit codes: 0 done, 1 refused or failed, 2 wrong usage. */
export async function runProgram(): Promise<number> {
  const asJson = process.argv.includes('--json')
  const program = createProgram({ writeErr: (text) => asJson || process.stderr.write(text) })
  enterUsersFolder()
  endOnInterrupt()
  try {
    await program.parseAsync()
    return 0
  } catch (error) {
    return unlessInterrupted(() => report(error, asJson))
  } finally {
    await write(process.stdout, '')
  }
}
