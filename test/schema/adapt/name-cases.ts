import { type Group, optional, unchanged } from './adapt-case.ts'

const text = { type: 'string' }

const rename = (from: string, to: string) => `renamed /${from} -> /${to}`

export const nameCases: Group[] = [
  {
    title: 'case and separators',
    schema: { artistName: text, line2: optional('string'), Größe: optional('string') },
    cases: [
      [{ artistName: 'x', 'line-2': 'y' }, { artistName: 'x', line2: 'y' }, [rename('line-2', 'line2')]],
      unchanged({ 'artist-name': 'x', artist_name: 'y' }),
    ],
  },
  {
    title: 'digits',
    schema: { line12: optional('string'), part_1_2: optional('string') },
    cases: [unchanged({ line_1_2: 'x' }), unchanged({ part12: 'x' })],
  },
  {
    title: 'two fields with the unchanged normalized name',
    schema: { 'artist-name': optional('string'), artistName: optional('string') },
    cases: [unchanged({ ARTIST_NAME: 'x' }), unchanged({ artistName: 'x', ARTIST_NAME: 'y' })],
  },
  {
    title: 'names that consist of separators',
    schema: { _: optional('string'), '': optional('string'), many: optional('string') },
    cases: [unchanged({ '-': 'x' })],
  },
  {
    title: 'singular and plural',
    schema: {
      tags: optional('array', { items: text }),
      category: optional('string'),
      boxes: optional('array', { items: text }),
      id: optional('string'),
      address: optional('string'),
    },
    cases: [
      [{ tag: 'x' }, { tags: ['x'] }, [rename('tag', 'tags'), 'converted /tags from string']],
      [{ box: ['x'] }, { boxes: ['x'] }, [rename('box', 'boxes')]],
    ],
  },
  {
    title: 'typos',
    schema: {
      name: optional('string'),
      artistName: optional('string'),
      organisation: optional('string'),
      length: optional('integer'),
      minPrice: optional('number'),
      gender: optional('string'),
      excluded: optional('boolean'),
      line1: optional('string'),
      map: optional('string'),
    },
    cases: [
      [{ artisttName: 'x' }, { artistName: 'x' }, [rename('artisttName', 'artistName')]],
      [{ artist_nme: 'x' }, { artistName: 'x' }, [rename('artist_nme', 'artistName')]],
      unchanged({ mapp: 'x' }),
      unchanged({ nmae: 'x' }),
    ],
  },
  {
    title: 'envelopes',
    schema: { artistName: text, limit: { type: 'integer', default: 5 } },
    cases: [
      [{ data: { input: { limit: 1 } } }, { limit: 1 }, ['unwrapped /data/input -> ']],
      [{ data: { limit: 1, extra: 2 } }, { limit: 1, extra: 2 }, ['unwrapped /data -> ']],
      [{ input: { other: 1 } }, { input: { other: 1 }, limit: 5 }, ['defaulted /limit']],
      [{ input: 'x' }, { input: 'x', limit: 5 }, ['defaulted /limit']],
      [{ input: [{ limit: 1 }] }, { limit: 1 }, ['unwrapped /input/0 -> ']],
    ],
  },
  {
    title: 'a field with the name of an envelope',
    schema: { data: { type: 'object', properties: { date: text } }, date: optional('string') },
    cases: [[{ Data: { date: 'x' } }, { data: { date: 'x' } }, [rename('Data', 'data')]]],
  },
]
