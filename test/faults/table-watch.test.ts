import { describe, expect, it } from 'vitest'
import { watchTable } from './table-watch.ts'

/** An exchange as the proxy sees it. */
function carriedOut(operation: string, request: object, response: object = {}, status = 200) {
  const bytes = (value: object) => Buffer.from(JSON.stringify(value))
  return { operation, status, request: bytes(request), response: bytes(response) }
}

const KEY = { pk: { S: 'EXEC#1' }, sk: { S: 'STEP#00001' } }
const item = (text: string) => ({ ...KEY, content: { S: text } })
const ended = (finishedAt: string) =>
  carriedOut(
    'UpdateItem',
    { Key: { pk: { S: 'EXEC#1' }, sk: { S: 'RECORD' } } },
    { Attributes: { status: { S: 'SUCCESS' }, finishedAt: { S: finishedAt } } },
  )

describe('watchTable', () => {
  it('finds nothing wrong with a checkpoint whose second write was refused', () => {
    const { onExchange, problems, checkpoints } = watchTable()
    onExchange(carriedOut('PutItem', { Item: item('first') }))
    onExchange(carriedOut('PutItem', { Item: item('second') }, {}, 400))
    expect(problems).toEqual([])
    expect([...checkpoints.values()]).toEqual([item('first')])
  })

  it.each([
    carriedOut('PutItem', { Item: item('second') }),
    carriedOut('UpdateItem', { Key: KEY }),
    carriedOut('DeleteItem', { Key: KEY }),
    carriedOut('BatchWriteItem', { RequestItems: { t: [{ PutRequest: { Item: item('second') } }] } }),
    carriedOut('BatchWriteItem', { RequestItems: { t: [{ DeleteRequest: { Key: KEY } }] } }),
    carriedOut('TransactWriteItems', { TransactItems: [{ Put: { Item: item('second') } }] }),
    carriedOut('TransactWriteItems', { TransactItems: [{ Update: { Key: KEY } }] }),
    carriedOut('TransactWriteItems', { TransactItems: [{ Delete: { Key: KEY } }] }),
  ])('reports a checkpoint that is touched again by $operation', (exchange) => {
    const { onExchange, problems } = watchTable()
    onExchange(carriedOut('PutItem', { Item: item('first') }))
    onExchange(exchange)
    expect(problems).toEqual([expect.stringContaining('EXEC#1 STEP#00001 was')])
  })

  it('reports an execution that ends twice, and not one whose end is carried out twice', () => {
    const { onExchange, problems } = watchTable()
    onExchange(ended('2026-01-01T00:00:00.000Z'))
    onExchange(ended('2026-01-01T00:00:00.000Z'))
    expect(problems).toEqual([])
    onExchange(ended('2026-01-01T00:00:01.000Z'))
    expect(problems).toEqual([expect.stringContaining('EXEC#1 RECORD ended twice')])
  })
})
