import { openTable, type Table } from '../../lib/dynamodb/table.ts'
import { processMessage } from '../../lib/engine/worker/process-message.ts'
import { engineOn } from './engine.ts'

/**
 * A process that takes up one execution, and kills itself the moment after its nth write has been carried out.
 * Arguments: the execution's id, n (0 for never). The table and the model come with the environment.
 */
const [id = '', n = '0'] = process.argv.slice(2)
let writes = 0

function counting<Args extends unknown[], T>(write: (...args: Args) => Promise<T>) {
  return async (...args: Args): Promise<T> => {
    const result = await write(...args)
    writes++
    if (writes === Number(n)) process.kill(process.pid, 'SIGKILL')
    return result
  }
}

const opened = openTable()
const table: Table = {
  ...opened,
  put: counting(opened.put),
  update: counting(opened.update),
  writeMany: counting(opened.writeMany),
}
const engine = engineOn(table)
const result = await processMessage(engine, id)
console.log(JSON.stringify({ result, writes }))
process.exit(0)
