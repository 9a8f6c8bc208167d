import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startChild } from '../child.ts'
import { floorRun, INPUT } from '../run-kinds.ts'
import type { Service } from '../service.ts'
import type { Workplace } from '../workplace.ts'
import { floorItems } from './items.ts'

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/**
 * The floors, each a process of its own: the SDK floor on the service's own DynamoDB in a table without indexes, the
 * same with the service's indexes, and the record floor on a database of its own.
 */
export async function startFloors(workplace: Workplace, service: Service) {
  const folder = await workplace.folder()
  const items = join(folder, 'items.json')
  await writeFile(items, JSON.stringify(await floorItems(service.table, INPUT)))
  const start = async (name: string, ...args: string[]) => {
    const { url } = await startChild(workplace, { command: process.execPath, args: [script(name), ...args] })
    return floorRun(url)
  }
  return {
    floor: await start('dynamodb-server.ts', service.dynamodb, 'floor', items, 'bare'),
    indexedFloor: await start('dynamodb-server.ts', service.dynamodb, 'indexed-floor', items, 'indexed'),
    recordFloor: await start('record-server.ts', join(folder, 'records.sqlite')),
  }
}
