import { expect, test } from 'bun:test';
import { faultsOf } from './check.ts';

const typed = new Map([
  ['ada', ['a1', 'a2', 'a3']],
  ['bob', ['b1', 'b2']],
]);

test('texts that are there once and in order of their authors have no fault', () => {
  expect(faultsOf('here', ['a1', 'b1', 'a2', 'b2', 'a3'], typed)).toEqual([]);
});

test('lost, repeated, swapped and unknown texts are faults', () => {
  expect(faultsOf('here', ['a1', 'a3', 'b1', 'b2'], typed)).toEqual(['here: 1 of ada are lost: a2']);
  expect(faultsOf('here', ['a1', 'a2', 'a2', 'a3', 'b1', 'b2'], typed)[0]).toContain('appear twice: a2');
  expect(faultsOf('here', ['a1', 'a3', 'a2', 'b1', 'b2'], typed)).toEqual(['here: "a2" of ada comes after "a3"']);
  expect(faultsOf('here', ['a1', 'a2', 'a3', 'b1', 'b2', 'c'], typed)).toEqual(['here: nobody typed c']);
});
