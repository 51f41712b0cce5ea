/* Nodes as the file format lays them out, made by hand: what is in them is entered, and nothing
 * of a node that is not as it should be counts. */
#include "io/h5_index_nodes.h"
#include "tests/support/test_support.h"

enum { SIDE = 4, N = SIDE * SIDE, CHUNK = 10, FILE_BYTES = 100000, MOST_BYTES = 1024 };

/* Of a node with addresses of 8 bytes. */
enum {
    TYPE_AT = 4,
    COUNT_AT = 6,
    KEY_AT = 24,
    ADDRESS_AT = KEY_AT + 32,
    SECOND_AT = ADDRESS_AT + 8
};

/* A node of the tree of a 2-D array in 4 x 4 chunks of 10 x 10. */
typedef struct node {
    unsigned char bytes[MOST_BYTES];
    size_t n_bytes;
} node;

static void put(node *self, uint64_t value, size_t n_bytes) {
    memcpy(self->bytes + self->n_bytes, &value, n_bytes);
    self->n_bytes += n_bytes;
}

static void put_key(node *self, int64_t place) {
    put(self, 100 + (uint64_t)place, 4); /* bytes */
    put(self, (uint64_t)place % 3, 4);   /* mask */
    put(self, (uint64_t)(place / SIDE * CHUNK), 8);
    put(self, (uint64_t)(place % SIDE * CHUNK), 8);
    put(self, 0, 8);
}

static node make_node(unsigned level, const int64_t *places, int64_t n, size_t address_bytes) {
    node self = {.bytes = "TREE", .n_bytes = 4};
    put(&self, 1, 1);
    put(&self, level, 1);
    put(&self, (uint64_t)n, 2);
    put(&self, UINT64_MAX, address_bytes);
    put(&self, UINT64_MAX, address_bytes);
    for (int64_t k = 0; k < n; k++) {
        put_key(&self, places[k]);
        put(&self, 5000 + 1000 * (uint64_t)places[k], address_bytes);
    }
    put_key(&self, N); /* behind all */
    return self;
}

/* An empty index and who fills it. */
typedef struct place {
    slci_h5_index index;
    slci_h5_index_request request;
    slci_h5_index_nodes nodes;
    uint64_t offset[N];
    uint32_t bytes[N], mask[N];
} place;

static void begin(place *self, int address_bytes) {
    memset(self, 0, sizeof *self);
    self->index = (slci_h5_index){.rank = 2,
                                  .grid = {SIDE, SIDE},
                                  .n_chunks = N,
                                  .offset = self->offset,
                                  .bytes = self->bytes,
                                  .mask = self->mask};
    self->request = (slci_h5_index_request){.path = "a.h5",
                                            .name = "/x",
                                            .file_bytes = FILE_BYTES,
                                            .rank = 2,
                                            .shape = {SIDE * CHUNK, SIDE * CHUNK},
                                            .chunk = {CHUNK, CHUNK}};
    self->nodes = (slci_h5_index_nodes){.request = &self->request,
                                        .index = &self->index,
                                        .address_bytes = address_bytes,
                                        .base = 512};
    TEST_OK(slci_h5_index_nodes_init(&self->nodes));
}

static void expect_entries(const place *self, const int64_t *places, int64_t n) {
    assert_int_equal(self->index.n_stored, n);
    for (int64_t k = 0; k < n; k++) {
        const int64_t at = places[k];
        assert_int_equal(self->offset[at], 512 + 5000 + 1000 * at);
        assert_int_equal(self->bytes[at], 100 + at);
        assert_int_equal(self->mask[at], at % 3);
    }
}

static void chunks_of_several_nodes_are_entered(void **state) {
    static const int64_t places[] = {0, 1, 5, 6, 7, 15};
    static const size_t address_bytes[] = {8, 4};
    (void)state;
    for (int64_t i = 0; i < TEST_COUNT(address_bytes); i++) {
        place self;
        begin(&self, (int)address_bytes[i]);
        const node nodes[] = {make_node(1, places, 2, address_bytes[i]),
                              make_node(0, places, 4, address_bytes[i]),
                              make_node(0, places, 0, address_bytes[i]),
                              make_node(0, places + 4, 2, address_bytes[i])};
        for (int64_t k = 0; k < TEST_COUNT(nodes); k++) {
            slci_h5_index_nodes_see(&self.nodes, nodes[k].bytes, nodes[k].n_bytes);
        }
        assert_false(self.nodes.is_odd);
        assert_int_equal(self.nodes.last, 15);
        expect_entries(&self, places, 6);
        for (int64_t k = 0; k < N; k++) {
            assert_int_equal(slci_h5_index_nodes_is_end(&self.nodes, k),
                             k == 0 || k == 6 || k == 7 || k == 15);
        }
        slci_h5_index_nodes_release(&self.nodes);
    }
}

static void expect_odd(const node *first, const node *second) {
    place self;
    begin(&self, 8);
    slci_h5_index_nodes_see(&self.nodes, first->bytes, first->n_bytes);
    assert_false(self.nodes.is_odd);
    slci_h5_index_nodes_see(&self.nodes, second->bytes, second->n_bytes);
    assert_true(self.nodes.is_odd);
    slci_h5_index_nodes_release(&self.nodes);
}

static void odd_nodes_are_noticed(void **state) {
    static const int64_t places[] = {2, 3, 4};
    static const int64_t again[] = {4, 5};
    static const int64_t backwards[] = {6, 5};
    static const int64_t outside[] = {7, N};
    (void)state;
    const node first = make_node(0, places, 3, 8);
    const node good = make_node(0, again + 1, 1, 8);
    const node odd[] = {make_node(0, again, 2, 8), make_node(0, backwards, 2, 8),
                        make_node(0, outside, 2, 8)};
    for (int64_t k = 0; k < TEST_COUNT(odd); k++) {
        expect_odd(&first, &odd[k]);
    }
    /* Where a field is wrong: signature, type, more chunks than bytes, a chunk of no bytes, one beyond
     * the file, one without an address. */
    static const size_t at[] = {0, TYPE_AT, COUNT_AT, KEY_AT, ADDRESS_AT + 2, ADDRESS_AT};
    static const unsigned char value[6][8] = {"t",    {0},
                                              {200},  {0},
                                              {0xff}, {255, 255, 255, 255, 255, 255, 255, 255}};
    static const size_t n[] = {1, 1, 1, 4, 1, 8};
    for (int64_t k = 0; k < TEST_COUNT(at); k++) {
        node bad = good;
        memcpy(bad.bytes + at[k], value[k], n[k]);
        expect_odd(&first, &bad);
    }
    for (size_t cut = 0; cut < SECOND_AT; cut++) {
        node bad = good;
        bad.n_bytes = cut;
        expect_odd(&first, &bad);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_several_nodes_are_entered),
        cmocka_unit_test(odd_nodes_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
