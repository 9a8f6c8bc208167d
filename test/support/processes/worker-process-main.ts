import { openTable, type Table } from '../../../lib/dynamodb/table/table.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { engineOn } from '../engine/engine-on.ts'

/**
 * A worker that processes one execution and sends itself SIGKILL right after its nth write.
 * Arguments: the execution's ID, and n (0: never). Prints `{result, writes}`.
 */
const [id = '', killAfterWrites = '0'] = process.argv.slice(2)
let writes = 0

function counted<Args extends unknown[], T>(write: (...args: Args) => Promise<T>) {
  return async (...args: Args): Promise<T> => {
    const result = await write(...args)
    writes++
    if (writes === Number(killAfterWrites)) process.kill(process.pid, 'SIGKILL')
    return result
  }
}

const opened = openTable()
const table: Table = {
  ...opened,
  put: counted(opened.put),
  update: counted(opened.update),
  writeMany: counted(opened.writeMany),
}
const result = await processMessage(engineOn(table), id)
console.log(JSON.stringify({ result, writes }))
process.exit(0)
